import DarkroomRequests

extension Recipe {
    /// The steps in the order of the recipe's rules. `DialectOrders` has the orders of other services.
    func steps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        switch rules {
        case .darkroom: darkroomSteps(scaleDownLimits: limits)
        case .wsrv: wsrvSteps(scaleDownLimits: limits)
        case .imgproxy: imgproxySteps()
        case .thumbor: thumborSteps(scaleDownLimits: limits)
        case .cloudflare: cloudflareSteps(scaleDownLimits: limits)
        }
    }

    /// Darkroom's own order, which is defined here only.
    ///
    /// Colors are converted right after scaling, on the fewest pixels, because a canvas, a background and every
    /// filter are defined in sRGB. Texts and borders are drawn after the image's colors have been changed and before
    /// the image is cut. They keep the requested colors that way, and lie within the outline. A border is drawn before
    /// the cut too, so that both share one smooth edge.
    private func darkroomSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        [
            Orient(self),
            inset,
            crop,
            trim,
            Resize(self, within: limits),
            ColorConversion(self),
            CoverCrop(self),
            ContainExtend(self),
            Rotate(self),
            flip ? Flip() : nil,
            flop ? Flop() : nil,
            cutStep,
        ] + effects + listedSteps
            + [markAtLast, textAtLast, Border(self), Mask(self), Pad(self), Flatten(self)]
    }

    /// The changes of colors and details. imgproxy alone has another order of them.
    var effects: [(any Transform)?] {
        [
            brightness,
            lightness,
            saturation,
            hue,
            contrast,
            gamma,
            sharpen,
            filter,
            duotone,
            blur,
            pixelate,
            tint,
        ]
    }

    var cutStep: Crop? { cut?.with(.cut) }

    /// The color that a step may fill with. `Flatten` alone applies a translucent background, so that it counts once.
    var solidBackground: Color? { background?.alpha == 255 ? background : nil }

    /// The steps that change something, in order.
    func steps(within limits: PixelLimits) -> [any Transform] {
        let scaleDown = ScaleDownLimits(limits, rotationDegrees: rotationDegrees, padding: padding ?? Padding(0))
        let limits = self.scaleDown ? scaleDown : nil
        let made = scalingCanvasDown(to: limits).steps(scaleDownLimits: limits)
        let steps = ([digest] + made + layerSteps + [AILabel(self)]).compactMap { $0 }.hidingFaces(redaction)
            .withFaceZoom
        let deep = depth == .eight || steps.suitDeepSamples ? steps : steps.inEightBits
        return gamut == .sRGB || suitsP3(deep) ? deep : deep.inSRGB
    }

    /// The recipe with a canvas within the limits, if its result is to have the canvas's exact size.
    private func scalingCanvasDown(to limits: ScaleDownLimits?) -> Recipe {
        guard let limits, let canvas = box.size, box.isFixed, fit == .cover || fit == .contain else { return self }
        var recipe = self
        let fitted = limits.fitted(canvas)
        recipe.box = Box(width: fitted.width, height: fitted.height)
        return recipe
    }
}

extension [any Transform] {
    /// The same steps with a result in sRGB.
    var inSRGB: Self { map { ($0 as? ColorConversion).map { ColorConversion(.sRGB, $0.depth) } ?? $0 } }
}
