import DarkroomVips

/// Blurs evenly.
public struct Blur: Transform, Hashable, Codable {
    /// Standard deviations that may be asked for, in pixels of the result.
    public static let sigmas = 0.3...1000

    /// Nil = a mild blur over 3×3 pixels.
    public var sigma: Double?

    /// A blur of one of `sigmas`, or a mild one.
    public init(sigma: Double? = nil) {
        self.sigma = sigma
    }

    public var key: String { "blur(\(sigma.map { "\($0)" } ?? "mild"))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in
            try frame.premultiplying { colors throws(VipsError) in
                guard let sigma else { return try colors.convolving(Self.mild) }
                return try colors.blurred(sigma: sigma)
            }.roundedToBytes()
        }
    }

    private static let mild = VipsImage.matrix([[1, 1, 1], [1, 1, 1], [1, 1, 1]], scale: 9)
}

extension VipsImage {
    /// A wide blur leaves no detail, so it is computed on a smaller picture: the cost does not grow with `sigma`.
    fileprivate func blurred(sigma: Double) throws(VipsError) -> VipsImage {
        let factor = min(Int(sigma / 4), width, height)
        guard factor > 1 else {
            return try applying("gaussblur", ["sigma": .double(sigma), "precision": "float"])
        }
        let small = try applying("shrink", ["hshrink": .int(factor), "vshrink": .int(factor), "ceil": true])
            .applying("gaussblur", ["sigma": .double(sigma / Double(factor)), "precision": "float"])
        return try small.enlarged(to: PixelSize(width: width, height: height))
    }

    /// Convolution in floating point: libvips' integer one changes even colours.
    func convolving(_ matrix: VipsImage) throws(VipsError) -> VipsImage {
        try applying("conv", ["mask": .image(matrix), "precision": "float"])
    }
}
