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
