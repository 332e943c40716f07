import DarkroomRequests

/// The meaning of the parameters of the box.
extension ImageQueryDraft {
    var fitOrDefault: Fit {
        get { fit ?? .inside }
        set { fit = newValue }
    }

    /// Box, fit, position and resampling, each of which has a meaning only with the parameter before it.
    func finishBox(_ recipe: inout Recipe, _ limits: QueryLimits) throws(InvalidParameter) {
        try require(
            !(withoutEnlargement && recipe.enlarge), "we",
            "Parameter 'we' means enlarge=false and cannot be combined with enlarge=true.")
        try require(
            recipe.layout == nil || recipe.rules == .imgproxy, "layout", "Parameter 'layout' requires rules=imgproxy.")
        let position = try position()
        recipe.box = try box(limits)
        if recipe.rules == .imgproxy {
            // The layout has fit and gravity.
            (recipe.fit, recipe.position, recipe.scaleDown, recipe.blursBackdrop) = (.inside, .center, false, false)
            return
        }
        recipe.fit = fit ?? (aspectRatio == nil ? .inside : .cover)
        let plain = Recipe()
        if !recipe.box.hasSide {
            recipe.enlarge = plain.enlarge
            if !recipe.box.hasMinimum { recipe.resampling = plain.resampling }
        }
        // The rules of weserv/images define `fill` and `contain` with one side.
        let needsTwoSides = recipe.rules == .darkroom || recipe.rules == .cloudflare && recipe.fit != .outside
        if !recipe.box.isTwoSided, needsTwoSides || !recipe.box.hasSide { recipe.fit = plain.fit }
        if recipe.fit != .contain { recipe.blursBackdrop = false }
        recipe.dropIneffectiveMinimum()
        recipe.position =
            switch recipe.fit {
            case .inside: recipe.box.hasMinimum && recipe.box.hasSide ? position : plain.position
            case .outside where recipe.rules == .cloudflare: position
            case .outside, .fill: plain.position
            case .cover: position
            case .contain: position.placement
            }
    }

    func box(_ limits: QueryLimits) throws(InvalidParameter) -> Box {
        let horizontal: Length? =
            if let shownWidth { .pixels(shownWidth) } else { try side("w", width, limits) }
        var box = Box(horizontal: horizontal, vertical: try side("h", height, limits))
        box.minWidth = try side("min-w", minWidth.map(Length.pixels), limits)?.pixels
        box.minHeight = try side("min-h", minHeight.map(Length.pixels), limits)?.pixels
        box.swapsSides = swapsSides && box.size != nil
        if let aspectRatio { try apply(aspectRatio, to: &box, limits) }
        guard query.recipe.rules != .imgproxy else { return box }
        try requireOrder(box.minWidth, "min-w", isAtMost: box.width, "width")
        try requireOrder(box.minHeight, "min-h", isAtMost: box.height, "height")
        return box
    }

    /// CSS pixels or a percentage, times `dpr`.
    private func side(
        _ name: String, _ side: Length?, _ limits: QueryLimits
    ) throws(InvalidParameter) -> Length? {
        switch side {
        case nil: return nil
        case .pixels(let count):
            let pixels = pixelRatio.times(count)
            try require(
                pixels <= limits.maxOutputSide, "dpr",
                "Parameter '\(name)' times 'dpr' must be at most \(limits.maxOutputSide) pixels, got \(pixels).")
            return .pixels(pixels)
        case .percent(let part):
            let product = Percentage(hundredths: pixelRatio.times(part.hundredths))
            try require(
                product.hundredths <= Self.maxPercent * 100, "dpr",
                "Parameter '\(name)' times 'dpr' must be at most \(Self.maxPercent)p, got \(product).")
            return .percent(product)
        }
    }

    /// The largest percentage of a side.
    static let maxPercent = 800

    /// Gives the box the side that it lacks, or the ratio where the side depends on the image.
    private func apply(
        _ ratio: AspectRatio, to box: inout Box, _ limits: QueryLimits
    ) throws(InvalidParameter) {
        try require(
            box.horizontal == nil || box.vertical == nil, "ar",
            "Parameter 'ar' cannot be combined with both a width and a height; leave one of the three out.")
        try require(
            [nil, .cover, .contain].contains(fit), "ar",
            "Parameter 'ar' requires fit=cover, which it implies, or fit=contain; got fit=\(fitOrDefault.rawValue).")
        if let width = box.width {
            box.height = try bounded(ratio.height(forWidth: width), "height", limits)
        } else if let height = box.height {
            box.width = try bounded(ratio.width(forHeight: height), "width", limits)
        } else {
            box.ratio = ratio
        }
    }

    private func bounded(_ side: Int, _ name: String, _ limits: QueryLimits) throws(InvalidParameter) -> Int {
        try require(
            side <= limits.maxOutputSide, "ar",
            "Parameter 'ar' makes the \(name) \(side) pixels; at most \(limits.maxOutputSide) are allowed.")
        return side
    }

    private func requireOrder(
        _ least: Int?, _ name: String, isAtMost side: Int?, _ sideName: String
    ) throws(InvalidParameter) {
        guard let least, let side, least > side else { return }
        throw InvalidParameter(
            name, "Parameter '\(name)' must not exceed the \(sideName) of \(side) pixels, got \(least).")
    }

    private func position() throws(InvalidParameter) -> Position {
        switch place {
        case .focal:
            guard let focus else { return .focal(x: focalX, y: focalY) }
            try require(
                focalX == Self.middle && focalY == Self.middle, "focus",
                "Parameter 'focus' cannot be combined with 'fpx' and 'fpy'.")
            return .point(x: focus.x, y: focus.y)
        case .position(let position):
            guard focus == nil else { throw InvalidParameter("focus", "Parameter 'focus' requires a=focal.") }
            try require(
                focalX == Self.middle && focalY == Self.middle, focalX == Self.middle ? "fpy" : "fpx",
                "Parameters 'fpx' and 'fpy' require a=focal.")
            return position.faces.map { .faces(FaceFocus($0.choice, zoom: faceZoom)) } ?? position
        }
    }
}

extension Recipe {
    /// Leaves a least size out where every result reaches it, so that equal images have equal queries.
    fileprivate mutating func dropIneffectiveMinimum() {
        guard box.size != nil else { return }
        switch fit {
        case .contain: break
        case .outside, .cover, .fill: guard enlarge else { return }
        case .inside: return
        }
        (box.minWidth, box.minHeight) = (nil, nil)
    }
}

extension Position {
    /// The position as `contain` uses it. `contain` cuts nothing, so a choice by content does not apply.
    fileprivate var placement: Position {
        switch self {
        case .anchor: self
        case .focal(let x, let y): .anchor(x: x, y: y)
        case .entropy, .attention, .faces, .point: .center
        }
    }
}
