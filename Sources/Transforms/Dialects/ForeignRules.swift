extension Recipe {
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
