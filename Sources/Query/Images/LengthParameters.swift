import DarkroomRequests

extension ImageQueryDraft {
    /// Multiplies the lengths of the result by `dpr`, so that an image for a dense screen looks like the plain one.
    ///
    /// Percentages and lengths in pixels of the source stay. ``finishedMark(_:)`` multiplies the lengths of the mark.
    /// Rules of other services multiply what the other service multiplies, which a translated URL already contains.
    func multiplyLengths(of recipe: inout Recipe) throws(InvalidParameter) {
        guard pixelRatio != .one, recipe.rules == .darkroom else { return }
        func scale(_ parameter: String) -> LengthScale { LengthScale(ratio: pixelRatio, parameter: parameter) }
        try recipe.cut?.multiply(by: scale("cut"))
        try recipe.blur?.multiply(by: scale("blur"))
        try recipe.sharpen?.multiply(by: scale("sharp"))
        try recipe.pixelate?.multiply(by: scale("pixelate"))
        try recipe.text?.multiply(by: scale("textsize"))
        try recipe.border?.multiply(by: scale("border"))
        try recipe.radius?.multiply(by: scale("radius"))
        try recipe.padding?.multiply(by: scale("pad"))
        for index in recipe.steps.indices { try recipe.steps[index].multiply(by: scale("steps")) }
    }
}

/// Multiplies the lengths of a parameter by `dpr`, within the range that the parameter accepts.
private struct LengthScale {
    let ratio: Hundredths
    let parameter: String

    /// The largest numbers that queries can have for space and radii, drawings, and parts of an image.
    static let longestSpace = 9_999
    static let longestSide = 99_999
    static let longestPart = 999_999_999

    func pixels(_ count: Int, atMost most: Int) throws(InvalidParameter) -> Int {
        let product = ratio.times(abs(count))
        try requireRange(product <= most, "\(product)", "\(most)")
        return count.signum() * product
    }

    func length(_ length: Length, atMost most: Int) throws(InvalidParameter) -> Length {
        guard case .pixels(let count) = length else { return length }
        return .pixels(try pixels(count, atMost: most))
    }

    /// Multiplies some lengths of a value.
    func multiply<Value>(
        _ paths: [WritableKeyPath<Value, Length>], of value: inout Value, atMost most: Int
    ) throws(InvalidParameter) {
        for path in paths { value[keyPath: path] = try length(value[keyPath: path], atMost: most) }
    }

    /// A standard deviation, to a millionth of a pixel.
    func sigma(_ sigma: Double, atMost most: Double) throws(InvalidParameter) -> Double {
        let product = (sigma * Double(ratio.count) * 10_000).rounded() / 1_000_000
        try requireRange(product <= most, ValueSchema.plain(product), ValueSchema.plain(most))
        return product
    }

    private func requireRange(_ isWithin: Bool, _ product: String, _ most: String) throws(InvalidParameter) {
        let subject = parameter == "steps" ? "A length of parameter 'steps'" : "Parameter '\(parameter)'"
        try require(isWithin, "dpr", "\(subject) times 'dpr' must be at most \(most) pixels, got \(product).")
    }
}

extension EffectStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        switch self {
        case .blur(let blur): self = .blur(try blur.multiplied(by: scale))
        case .sharpen(let sharpen): self = .sharpen(try sharpen.multiplied(by: scale))
        case .pixelate(let pixelate): self = .pixelate(try pixelate.multiplied(by: scale))
        case .excerpt(let part): self = .excerpt(try part.multiplied(by: scale))
        case .round(let corners): self = .round(try corners.multiplied(by: scale))
        case .canvas(let fill): self = .canvas(try fill.multiplied(by: scale))
        case .pad(let fill): self = .pad(try fill.multiplied(by: scale))
        case .drawing(let mark): self = .drawing(try mark.multiplied(by: scale))
        case .caption(let caption): self = .caption(try caption.multiplied(by: scale))
        case .brightness, .lightness, .contrast, .saturation, .hue, .gamma, .linear, .filter, .rotate, .flip, .flop,
            .trim, .scale, .flatten, .mark, .text:
            break
        }
    }
}

/// A step with lengths in pixels of the result.
private protocol ScalableStep {
    mutating func multiply(by scale: LengthScale) throws(InvalidParameter)
}

extension ScalableStep {
    func multiplied(by scale: LengthScale) throws(InvalidParameter) -> Self {
        var step = self
        try step.multiply(by: scale)
        return step
    }
}

extension Blur: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        if let sigma { self.sigma = try scale.sigma(sigma, atMost: Self.sigmas.upperBound) }
    }
}

extension Sharpen: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        if let sigma { self.sigma = try scale.sigma(sigma, atMost: Self.sigmas.upperBound) }
    }
}

extension Pixelate: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        block = try scale.length(block, atMost: Self.pixels.upperBound)
    }
}

extension Text: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        if let size { self.size = try scale.pixels(size, atMost: Self.sizes.upperBound) }
    }
}

extension BorderStyle: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        width = try scale.pixels(width, atMost: Self.widths.upperBound)
    }
}

extension CornerRadii: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        try scale.multiply(
            [\.topLeft, \.topRight, \.bottomRight, \.bottomLeft], of: &self, atMost: LengthScale.longestSpace)
    }
}

extension Padding: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        for side in [\Self.top, \.right, \.bottom, \.left] {
            self[keyPath: side] = try scale.pixels(self[keyPath: side], atMost: LengthScale.longestSpace)
        }
    }
}

extension RoundCorners: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        across = try scale.pixels(across, atMost: Self.radii.upperBound)
        down = try scale.pixels(down, atMost: Self.radii.upperBound)
    }
}

extension CanvasFill: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        try padding.multiply(by: scale)
    }
}

/// `cut`, as a parameter and as a step.
extension Crop: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        try scale.multiply([\.x, \.y, \.width, \.height], of: &self, atMost: LengthScale.longestPart)
    }
}

extension Place: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        distance = try scale.length(distance, atMost: LengthScale.longestSide)
    }
}

/// The step `mark`, which has a place instead of an anchor.
extension Mark: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        if let width { self.width = try scale.length(width, atMost: LengthScale.longestSide) }
        if let height { self.height = try scale.length(height, atMost: LengthScale.longestSide) }
        try placement?.x?.multiply(by: scale)
        try placement?.y?.multiply(by: scale)
    }
}

extension Caption: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        switch size {
        case .font(let pixels): size = .font(try scale.pixels(pixels, atMost: Text.sizes.upperBound))
        case .letters(let pixels): size = .letters(try scale.pixels(pixels, atMost: Text.sizes.upperBound))
        }
        if let width { self.width = try scale.length(width, atMost: LengthScale.longestSide) }
        try x.multiply(by: scale)
        try y.multiply(by: scale)
    }
}

/// The box of a text, whose lengths in pixels are CSS pixels. Relative lengths and line heights stay.
extension TextBox: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        if let width { self.width = try scale.length(width, atMost: LengthScale.longestSide) }
        if let height { self.height = try scale.length(height, atMost: LengthScale.longestSide) }
        if let size { self.size = try scale.pixels(size, atMost: Self.sizes.upperBound) }
        if fits { minSize = try scale.pixels(minSize, atMost: Self.sizes.upperBound) }
        try padding.multiply(by: scale)
        try radius?.multiply(by: scale)
        try shadow?.multiply(by: scale)
    }
}

extension TextBox {
    /// The box with its lengths multiplied by `dpr`.
    ///
    /// - Parameter name: the parameter that gives the text.
    func multiplied(by ratio: Hundredths, named name: String) throws(InvalidParameter) -> TextBox {
        ratio == .one ? self : try multiplied(by: LengthScale(ratio: ratio, parameter: name))
    }
}

extension TextBox.Shadow: ScalableStep {
    fileprivate mutating func multiply(by scale: LengthScale) throws(InvalidParameter) {
        x = try scale.pixels(x, atMost: Self.offsets.upperBound)
        y = try scale.pixels(y, atMost: Self.offsets.upperBound)
        blur = try scale.pixels(blur, atMost: Self.blurs.upperBound)
    }
}
