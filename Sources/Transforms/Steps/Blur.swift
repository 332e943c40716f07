public import DarkroomRequests
import DarkroomVips

extension Blur: Transform {
    public var key: String {
        // Wide blurs had other pixels at the edges once.
        let isFramed = shrinkFactor > 1
        return "blur(\(sigma.map { "\($0)" } ?? "mild")\(isFramed ? ",framed" : ""))"
    }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: nanoseconds, nanosecondsPerPixelWithAlpha: nanoseconds * 1.5,
            nanosecondsPerFrame: 1.5e6,
            bytesPerPixel: shrinkFactor > 1 ? 4 : 2, bytesPerPixelWithAlpha: 6,
            bytesPerFrame: shrinkFactor > 1 ? 0 : 200_000)
    }

    /// The time for a pixel, which grows with the kernel that is computed.
    private var nanoseconds: Double {
        guard let sigma else { return 28 }
        let factor = shrinkFactor
        guard factor > 1 else { return 10 + 18 * sigma }
        return 30 + (10 + 26 * sigma / factor) / (factor * factor)
    }

    public var reading: InputReading { shrinkFactor > 1 || sigma == nil ? .once : .repeatedly }

    /// The factor by which the image is reduced before a wide blur.
    private var shrinkFactor: Double { ((sigma ?? 0) / 4).rounded(.down) }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.mapFrames { frame throws(VipsError) in
            guard let sigma else {
                return try frame.premultiplying { colors throws(VipsError) in try colors.convolving(Self.mild) }
                    .roundedToBytes()
            }
            return try frame.blurred(sigma: sigma, interrupt: context.interrupt)
        }
    }

    private static let mild = VipsImage.matrix([[1, 1, 1], [1, 1, 1], [1, 1, 1]], scale: 9)
}

extension VipsImage {
    /// A wide blur leaves no detail, so it is computed on a smaller image: the cost does not grow with `sigma`. Rows of
    /// the smaller images are read many times, so they are rendered. A frame of copies of the edge pixels becomes the
    /// edge of the smaller image, which libvips continues outside as it would continue the edge pixels themselves.
    ///
    /// - Parameter radius: the standard deviation on the smaller image, at least.
    /// - Returns: 8-bit samples.
    func blurred(
        sigma: Double, reducedTo radius: Double = 4, interrupt: @escaping Interrupt
    ) throws(VipsError) -> VipsImage {
        let factor = min(Int(sigma / radius), width, height)
        guard factor > 1 else {
            return try premultiplying { colors throws(VipsError) in
                try colors.applying("gaussblur", ["sigma": .double(sigma), "precision": "float"])
            }.roundedToBytes()
        }
        let framed = PixelSize(
            width: ((width - 1) / factor + 3) * factor, height: ((height - 1) / factor + 3) * factor)
        let small = try premultiplied().embeddedInCopies(in: framed, x: factor, y: factor)
            .blockMeans(across: factor, down: factor, partial: false).rendered(interrupt: interrupt)
            .applying("gaussblur", ["sigma": .double(sigma / Double(factor)), "precision": "float"])
        return try SmoothEnlargement(small.rendered(interrupt: interrupt), hasAlpha: hasAlpha, by: factor)
            .drawn(like: isByte ? self : roundedToBytes(), interrupt: interrupt)
    }

    /// A convolution in floating point: libvips' integer convolution changes flat colors.
    func convolving(_ matrix: VipsImage) throws(VipsError) -> VipsImage {
        try applying("conv", ["mask": .image(matrix), "precision": "float"])
    }
}
