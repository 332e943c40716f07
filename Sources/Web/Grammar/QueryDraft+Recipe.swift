import DarkroomTransforms

extension QueryDraft {
    /// The recipe that the values come to. Values that change no pixel leave the recipe as it is by default, so that
    /// equal pictures have equal recipes.
    func recipe(_ limits: QueryLimits) throws(InvalidParameter) -> Recipe {
        var recipe = Recipe(resampling: limits.defaultResampling)
        recipe.orientation = orientation
        recipe.crop = crop
        recipe.trim = trim.map(Trim.init(threshold:))
        recipe.rotationDegrees = rotationDegrees
        recipe.flip = flip
        recipe.flop = flop
        recipe.background = background.flatMap { $0.alpha == 0 ? nil : $0 }
        recipe.blur = blur
        recipe.sharpen = sharpen
        recipe.brightness = brightness == 0 ? nil : Brightness(percent: brightness)
        recipe.contrast = contrast == 0 ? nil : Contrast(percent: contrast)
        recipe.saturation = saturation == 1 ? nil : Saturation(factor: saturation)
        recipe.hue = hue == 0 ? nil : Hue(degrees: hue)
        recipe.gamma = gamma == 1 ? nil : Gamma(exponent: gamma)
        recipe.tint = tint.map(Tint.init)
        recipe.filter = filter
        recipe.scaleDown = scaleDown
        try placeInBox(&recipe, limits)
        return recipe
    }

    /// Box, fit, position and resampling, of which each means something only with the one before.
    private func placeInBox(_ recipe: inout Recipe, _ limits: QueryLimits) throws(InvalidParameter) {
        let enlarge = try enlargement()
        let position = try position()
        recipe.box = Box(width: try side("w", width, limits), height: try side("h", height, limits))
        guard recipe.box.width != nil || recipe.box.height != nil else { return }
        recipe.enlarge = enlarge
        recipe.resampling = resampling ?? limits.defaultResampling
        guard recipe.box.size != nil else { return }
        recipe.fit = fit
        switch fit {
        case .inside, .outside, .fill: break
        case .cover: recipe.position = position
        case .contain: recipe.position = position.placing
        }
    }

    /// CSS pixels times `dpr`.
    private func side(_ name: String, _ side: Int?, _ limits: QueryLimits) throws(InvalidParameter) -> Int? {
        guard let side else { return nil }
        let pixels = pixelRatio.times(side)
        guard pixels <= limits.maxOutputSide else {
            throw InvalidParameter(
                "dpr",
                "With 'dpr' the parameter '\(name)' comes to \(pixels) pixels; "
                    + "allowed are at most \(limits.maxOutputSide)."
            )
        }
        return pixels
    }

    private func enlargement() throws(InvalidParameter) -> Bool {
        guard withoutEnlargement else { return enlarge ?? false }
        guard enlarge != true else {
            throw InvalidParameter("we", "'we' means enlarge=false, so it cannot stand beside enlarge=true.")
        }
        return false
    }

    private func position() throws(InvalidParameter) -> Position {
        switch place {
        case .focal:
            return .focal(x: focalX, y: focalY)
        case .position, nil:
            guard focalX == Self.middle, focalY == Self.middle else {
                throw InvalidParameter(
                    focalX == Self.middle ? "fpy" : "fpx", "'fpx' and 'fpy' mean something only together with a=focal.")
            }
            if case .position(let position) = place { return position }
            return .center
        }
    }
}

extension Position {
    /// What `contain` makes of a position: it cuts nothing, so there is nothing to choose by content.
    fileprivate var placing: Position {
        switch self {
        case .anchor: self
        case .focal(let x, let y): .anchor(x: x, y: y)
        case .entropy, .attention: .center
        }
    }
}
