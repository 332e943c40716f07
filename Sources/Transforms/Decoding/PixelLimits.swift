/// The limits on source and result. All are checked against the header before a pixel is decoded.
public struct PixelLimits: Hashable, Codable, Sendable {
    /// Pixels of one frame of the source; 60 million by default.
    public var maxSourcePixels: Int
    /// Pixels of all frames used, together; 120 million by default.
    public var maxAnimationPixels: Int
    /// Frames of an animation; 256 by default.
    public var maxFrames: Int
    /// Pixels of the result's longer side; 8192 by default.
    public var maxOutputSide: Int
    /// Pixels of the result; 50 million by default.
    public var maxOutputPixels: Int
    /// The expected processor time of the work on one image in milliseconds (``ImagePlan/expectedWork``); 4,000 by
    /// default.
    public var maxProcessingMilliseconds: Int

    /// Limits with these defaults.
    public init(
        maxSourcePixels: Int = 60_000_000, maxAnimationPixels: Int = 120_000_000, maxFrames: Int = 256,
        maxOutputSide: Int = 8192, maxOutputPixels: Int = 50_000_000, maxProcessingMilliseconds: Int = 4000
    ) {
        self.maxSourcePixels = maxSourcePixels
        self.maxAnimationPixels = maxAnimationPixels
        self.maxFrames = maxFrames
        self.maxOutputSide = maxOutputSide
        self.maxOutputPixels = maxOutputPixels
        self.maxProcessingMilliseconds = maxProcessingMilliseconds
    }

    /// Refuses a source whose used frames are too large or too many. A single frame may be too large if the decoder
    /// `shrinks` it to fit.
    func check(_ header: SourceHeader, framesUsed: Int, shrinks: Bool = false) throws(ImageProcessingError) {
        let isReachable = header.shrinking.largestSize(of: header.size, within: maxSourcePixels) != nil
        guard header.size.area <= maxSourcePixels || (shrinks && isReachable) else {
            throw .tooLarge(
                "The source is \(header.size) pixels; at most \(maxSourcePixels) pixels per frame are accepted.")
        }
        guard framesUsed <= maxFrames else {
            throw .tooLarge(
                "The animation has \(framesUsed) frames; at most \(maxFrames) are accepted. "
                    + "Ask for fewer, for example with n=1.")
        }
        let (total, overflow) = header.size.area.multipliedReportingOverflow(by: framesUsed)
        guard !overflow, framesUsed == 1 || total <= maxAnimationPixels else {
            throw .tooLarge(
                "The animation's \(framesUsed) frames of \(header.size) pixels exceed the "
                    + "\(maxAnimationPixels) pixels accepted in total. Ask for fewer, for example with n=1.")
        }
    }

    func check(output size: PixelSize) throws(ImageProcessingError) {
        guard max(size.width, size.height) <= maxOutputSide, size.area <= maxOutputPixels else {
            throw .badParameter(
                "w",
                "the result would be \(size) pixels; at most \(maxOutputSide) per side and \(maxOutputPixels) in total "
                    + "are allowed, so ask for a smaller w, h or pad")
        }
    }

    /// Refuses a step whose raster is too large although the result, cropped from it, would not be.
    func check(intermediate size: PixelSize) throws(ImageProcessingError) {
        guard size.area <= maxOutputPixels else {
            throw .badParameter(
                "w",
                "the image would have to be enlarged to \(size) pixels on the way; at most \(maxOutputPixels) pixels "
                    + "are allowed")
        }
    }

    /// Refuses work that is expected to take too long, and names the parameter that shortens it most.
    ///
    /// - Parameters:
    ///   - work: the expected processor time in milliseconds.
    ///   - decoding: the part of it that only the number of frames shortens.
    ///   - frames: the frames of the source that are used.
    func check(
        work: Double, decoding: Double, frames: Int, output: OutputOptions
    ) throws(ImageProcessingError) {
        let limit = Double(maxProcessingMilliseconds)
        // Whatever is no number is refused too.
        guard !(work <= limit) else { return }
        let seconds = { (milliseconds: Double) in
            milliseconds > 3_600_000 ? "hours" : "\((milliseconds / 100).rounded() / 10) s"
        }
        guard decoding <= limit || frames > 1 else {
            throw .tooLarge(
                "Decoding the source would take about \(seconds(decoding)) of processor time; at most "
                    + "\(seconds(limit)) are spent on an image.")
        }
        let (parameter, advice) =
            if frames > 1 {
                ("n", "ask for fewer frames with n, or for a smaller w or h")
            } else if output.maxBytes != nil {
                ("max_bytes", "leave out max_bytes, or ask for a smaller w or h")
            } else if output.lossless {
                ("ll", "leave out ll, or ask for a smaller w or h")
            } else {
                ("w", "ask for a smaller w or h")
            }
        throw .badParameter(
            parameter,
            "the image would take about \(seconds(work)) of processor time; at most \(seconds(limit)) are allowed, so "
                + advice)
    }
}

extension ImageProcessingError {
    /// The error of this parameter, with a sentence for the client.
    static func badParameter(_ parameter: String, _ reason: String) -> ImageProcessingError {
        .badParameter(TransformError(parameter: parameter, reason: reason))
    }
}
