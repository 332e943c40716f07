/// The rules for the order of steps and the sizes of a chain.
public enum ChainRules: String, Codable, Sendable, CaseIterable {
    /// Darkroom's own rules.
    case darkroom
    /// The rules of weserv/images, for URLs that were written for it.
    ///
    /// Without enlarging, `cover` and `fill` keep the box's sides that the image reaches instead of its aspect ratio. A
    /// quarter turn and mirroring come before `cover` crops and `contain` extends, another rotation after it. A crop
    /// comes before scaling and a cut right after cropping; parts of them outside the image are left out. The
    /// background comes before the mask, and in an animation `trim` removes columns only.
    case weserv
    /// The rules of imgproxy, for URLs that were written for it. ``Layout`` has geometry that exists only with these
    /// rules.
    ///
    /// The image is trimmed before orientation, then rotated, cropped, scaled and cut. Colors and details follow, then
    /// canvases and padding, the background, and the mark. The pixel ratio never enlarges an image.
    case imgproxy
    /// The rules of imagor, for URLs that were written for thumbor or imagor.
    ///
    /// Sizes are libvips' thumbnail sizes. The part of a crop outside the source is left out, and `trim` examines the
    /// whole source. Mirroring comes right after the resize, and before the listed steps.
    case thumbor
    /// The rules of Cloudflare Images.
    ///
    /// The source is cut, mirrored and rotated by quarter turns before it is scaled. With `outside`, the image is
    /// cropped to the box, and a side that does not reach the box keeps its length. With `outside` and enlarging, a
    /// smaller image is enlarged to fit into the box, and a larger image stays unchanged.
    case cloudflare
}

extension Recipe {
    /// The steps in the order of weserv/images.
    func weservSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let isQuarterTurn = rotationDegrees.isQuarterTurns
        let turned: [(any Transform)?] = [
            isQuarterTurn ? Rotate(self) : nil, flip ? Flip() : nil, flop ? Flop() : nil,
        ]
        let scaled: [(any Transform)?] = [Resize(self, within: limits), ToSRGB()]
        let cropped = crop.map { Cut(x: $0.x, y: $0.y, width: $0.width, height: $0.height) }
        let sized = cropped.map { turned + [$0] + scaled } ?? (scaled + turned)
        var trim = trim
        trim?.keepsHeightOfAnimations = true
        return [trim, Orient(self)] + sized
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
}
