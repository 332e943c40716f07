import DarkroomRequests

/// The orders of other services: the effects of `Recipe.effects` and the steps of a list, which are Darkroom's own, at
/// the place that each service has for them. `StepOrderTests` fails for a step that an order has not placed.
extension Recipe {
    /// The steps in the order of weserv/images.
    func wsrvSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let isQuarterTurn = rotationDegrees.isQuarterTurns
        let turned: [(any Transform)?] = [
            isQuarterTurn ? Rotate(self) : nil, flip ? Flip() : nil, flop ? Flop() : nil,
        ]
        let scaled: [(any Transform)?] = [Resize(self, within: limits, sizes: .wsrv), ColorConversion(self)]
        let cropped = crop?.with(.cut)
        let clip = fit == .cover && box.isTwoSided ? Clip(position: position, after: cropped) : nil
        let sized = cropped.map { turned + [$0] + scaled } ?? (scaled + turned)
        var trim = trim
        trim?.keepsHeightOfAnimations = true
        trim?.backdrop = self.trim?.background ?? .black
        return [trim, Orient(self), inset] + sized
            + [clip, cutStep, ContainExtend(self, extendsOneSide: true), isQuarterTurn ? nil : Rotate(self)] + effects
            + listedSteps + [markAtLast, textAtLast, Flatten(self), Border(self), Mask(self), Pad(self)]
    }

    func imgproxySteps() -> [(any Transform)?] {
        let layout = layout ?? Layout()
        let turned: [(any Transform)?] = [
            Orient(self), Rotate(self), flip ? Flip() : nil, flop ? Flop() : nil, inset, crop,
        ]
        let canvas = { (kind: LayoutCanvas.Kind, isNeeded: Bool) in
            isNeeded ? LayoutCanvas(kind: kind, layout: layout) : nil
        }
        let resize = LayoutResize(
            layout: layout, box: box, enlarge: enlarge, resampling: resampling, padding: padding)
        let sized: [(any Transform)?] = [
            canvas(.window, layout.crop != nil), resize, ColorConversion(self),
            canvas(.kept, box.hasSide),
        ]
        let details: [(any Transform)?] = [
            brightness, lightness, contrast, saturation, hue, gamma, filter, duotone, blur, sharpen, pixelate, tint,
        ]
        let extended: [(any Transform)?] = [
            canvas(.extend, layout.extend != nil), canvas(.extendRatio, layout.extendRatio != nil),
            padding.map { LayoutCanvas(kind: .padding, layout: layout, padding: $0) },
        ]
        var (trim, mark) = (trim, markAtLast)
        trim?.backdrop = .magenta
        trim?.isEvenAcross = layout.trimsEvenlyAcross
        trim?.isEvenDown = layout.trimsEvenlyDown
        mark?.mayExceed = true
        let trimmed: (any Transform)? = trim.map { StillsOnly(step: $0) }
        return [trimmed] + turned + sized + [cutStep] + details + listedSteps + extended
            + [Flatten(self), mark, textAtLast, Border(self), Mask(self)]
    }

    /// The steps in the order of imagor: crop and trim, resize, mirroring, then ``steps`` as listed.
    func thumborSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let crop = crop?.with(.loose, droppingLastPixel: true)
        var trim = trim
        trim?.within = crop
        let cropped: (any Transform)? = if let trim { trim.asInThumbor } else { crop }
        let resize = Resize(self, within: limits, sizes: .thumbor(loadsWhole: loadsWholeInThumbor))
        let clip = fit == .cover && box.hasSide ? Clip(position: position, after: crop) : nil
        let listed = listedSteps.map(Self.asInThumbor)
        return [
            Orient(self), inset, cropped, resize, ColorConversion(self), clip, flop ? Flop() : nil, flip ? Flip() : nil,
            Rotate(self), cutStep,
        ] + effects + listed
            + [markAtLast, textAtLast, Border(self), Mask(self), Pad(self), Flatten(self)]
    }

    /// The steps in the order of Cloudflare Images: the source is cut, mirrored and turned before it is scaled.
    func cloudflareSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let crop = crop?.with(.loose)
        let isQuarterTurn = rotationDegrees.isQuarterTurns
        let resize = Resize(self, within: limits, sizes: .cloudflare)
        let isClipped = fit == .outside && box.isTwoSided && !enlarge
        let clip = isClipped ? Clip(position: position, after: crop) : nil
        return [
            Orient(self), inset, crop, trim, flop ? Flop() : nil, flip ? Flip() : nil,
            isQuarterTurn ? Rotate(self) : nil, resize, ColorConversion(self), clip, CoverCrop(self),
            ContainExtend(self),
            isQuarterTurn ? nil : Rotate(self), cutStep,
        ] + effects + [Flatten(self)] + listedSteps
            + [markAtLast, textAtLast, Border(self), Mask(self), Pad(self), Flatten(self)]
    }

    /// A listed step as in imagor: blocks are whole, and animations are not blurred, sharpened or trimmed.
    private static func asInThumbor(_ step: (any Transform)?) -> (any Transform)? {
        switch step {
        case var blocks as Pixelate:
            blocks.keepsBlocksWhole = true
            return blocks
        case let trim as Trim: return trim.asInThumbor
        case let blur as Blur: return StillsOnly(step: blur)
        case let sharpen as Sharpen: return StillsOnly(step: sharpen)
        default: return step
        }
    }

    /// Whether imagor decodes the image in full before it scales it, which decides how it rounds.
    private var loadsWholeInThumbor: Bool {
        let isOriented = if case .exif = orientation { true } else { orientation == .none }
        let isFocal =
            switch position {
            case .focal, .point: true
            case .anchor, .entropy, .attention, .faces: false
            }
        let hasStep = steps.contains { step in
            switch step {
            case .rotate, .trim: true
            case .canvas(let fill), .pad(let fill): fill.fill == .color(.average)
            default: false
            }
        }
        return crop != nil || trim != nil || flip || box.swapsSides || isOriented || isFocal || hasStep
    }
}

extension Trim {
    fileprivate var asInThumbor: StillsOnly {
        var trim = self
        trim.backdrop = background ?? .magenta
        return StillsOnly(step: trim)
    }
}

extension Color {
    fileprivate static let magenta = Color(red: 255, green: 0, blue: 255)
}

/// A step that leaves animations as they are.
struct StillsOnly: Transform {
    let step: any Transform

    var key: String { "\(step.key) of stills" }
    var cost: TransformCost { step.cost }
    var reading: InputReading { step.reading }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { try step.planned(plan) }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        image.isAnimated ? image : try step.apply(image, context: context)
    }
}
