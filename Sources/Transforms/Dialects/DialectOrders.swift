/// The orders of other services: the effects of `Recipe.effects` and the steps of a list, which are Darkroom's own, at
/// the place that each service has for them. `StepOrderTests` fails for a step that an order has not placed.
extension Recipe {
    /// The steps in the order of weserv/images.
    func wsrvSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let isQuarterTurn = rotationDegrees.isQuarterTurns
        let turned: [(any Transform)?] = [
            isQuarterTurn ? Rotate(self) : nil, flip ? Flip() : nil, flop ? Flop() : nil,
        ]
        let scaled: [(any Transform)?] = [Resize(self, within: limits), ToSRGB()]
        let cropped = crop.map { Cut(x: $0.x, y: $0.y, width: $0.width, height: $0.height) }
        let sized = cropped.map { turned + [$0] + scaled } ?? (scaled + turned)
        var trim = trim
        trim?.keepsHeightOfAnimations = true
        return [trim, Orient(self), inset] + sized
            + [Clip(self), cut, ContainExtend(self), isQuarterTurn ? nil : Rotate(self)] + effects
            + listedSteps + [markAtLast, textAtLast, Flatten(self), Border(self), Mask(self), Pad(self)]
    }

    /// The steps in the order of imgproxy.
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
            canvas(.window, layout.crop != nil), resize, ToSRGB(),
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
        trim?.imgproxy = Trim.ImgproxyRules(isEvenAcross: layout.trimsEvenlyAcross, isEvenDown: layout.trimsEvenlyDown)
        mark?.followsImgproxy = true
        return [trim] + turned + sized + [cut] + details + listedSteps + extended
            + [Flatten(self), mark, textAtLast, Border(self), Mask(self)]
    }

    /// The steps in the order of imagor: crop and trim, resize, mirroring, then ``steps`` as listed.
    func thumborSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let crop = crop.map { LooseCrop(crop: $0, dropsLastPixel: true) }
        var trim = trim
        trim?.within = crop
        trim?.followsImagor = true
        let cropped: (any Transform)? = if let trim { trim } else { crop }
        return [
            Orient(self), inset, cropped, Resize(self, within: limits), ToSRGB(), Clip(self),
            flop ? Flop() : nil, flip ? Flip() : nil, Rotate(self), cut,
        ] + effects + listedSteps
            + [markAtLast, textAtLast, Border(self), Mask(self), Pad(self), Flatten(self)]
    }

    /// The steps in the order of Cloudflare Images: the source is cut, mirrored and turned before it is scaled.
    func cloudflareSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let crop = crop.map { LooseCrop(crop: $0, dropsLastPixel: false) }
        let isQuarterTurn = rotationDegrees.isQuarterTurns
        return [
            Orient(self), inset, crop, trim, flop ? Flop() : nil, flip ? Flip() : nil,
            isQuarterTurn ? Rotate(self) : nil, Resize(self, within: limits), ToSRGB(), Clip(self), CoverCrop(self),
            ContainExtend(self), isQuarterTurn ? nil : Rotate(self), cut,
        ] + effects + [Flatten(self)] + listedSteps
            + [markAtLast, textAtLast, Border(self), Mask(self), Pad(self), Flatten(self)]
    }

    /// Whether imagor decodes the image in full before it scales it, which decides how it rounds.
    var loadsWholeLikeThumbor: Bool {
        let isOriented = if case .exif = orientation { true } else { orientation == .none }
        let isFocal =
            switch position {
            case .focal, .point: true
            case .anchor, .entropy, .attention: false
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
