/// How much a picture may ask of us. Everything is checked against the header before a pixel is decoded.
public struct PixelLimits: Hashable, Codable, Sendable {
    /// Pixels of one frame of the source.
    public var maxSourcePixels: Int
    /// Pixels of all frames used, together.
    public var maxAnimationPixels: Int
    /// Frames of an animation.
    public var maxFrames: Int
    /// Pixels of a result's longer side.
    public var maxOutputSide: Int
    /// Pixels of a result.
    public var maxOutputPixels: Int

    /// 60 megapixels a frame, 120 an animation of at most 256 frames, results of 8192 a side and 50 megapixels, unless
    /// said otherwise.
    public init(
        maxSourcePixels: Int = 60_000_000, maxAnimationPixels: Int = 120_000_000, maxFrames: Int = 256,
        maxOutputSide: Int = 8192, maxOutputPixels: Int = 50_000_000
    ) {
        self.maxSourcePixels = maxSourcePixels
        self.maxAnimationPixels = maxAnimationPixels
        self.maxFrames = maxFrames
        self.maxOutputSide = maxOutputSide
        self.maxOutputPixels = maxOutputPixels
    }

    /// Refuses a source whose frames used are too large or too many. One picture may be too large where the decoder `shrinks` it
    /// to fit.
    func check(_ header: SourceHeader, framesUsed: Int, shrinks: Bool = false) throws(ImageProcessingError) {
        let isReached = header.shrinking.reach(of: header.size, within: maxSourcePixels) != nil
        guard header.size.area <= maxSourcePixels || (shrinks && isReached) else {
            throw .tooLarge(
                "The source is \(header.size) pixels; at most \(maxSourcePixels) pixels a frame are accepted.")
        }
        guard framesUsed <= maxFrames else {
            throw .tooLarge(
                "The animation has \(framesUsed) frames; at most \(maxFrames) are accepted. "
                    + "Ask for fewer, for example with n=1.")
        }
        let (total, overflow) = header.size.area.multipliedReportingOverflow(by: framesUsed)
        guard !overflow, framesUsed == 1 || total <= maxAnimationPixels else {
            throw .tooLarge(
                "The animation's \(framesUsed) frames of \(header.size) pixels are more than the "
                    + "\(maxAnimationPixels) pixels accepted in all. Ask for fewer, for example with n=1.")
        }
    }

    /// Refuses a result that is too large, naming what can be done.
    func check(output size: PixelSize) throws(ImageProcessingError) {
        guard max(size.width, size.height) <= maxOutputSide, size.area <= maxOutputPixels else {
            throw .badParameter(
                TransformError(
                    parameter: "w",
                    reason:
                        "the result would be \(size) pixels; at most \(maxOutputSide) a side and \(maxOutputPixels) "
                        + "in all are allowed, so ask for a smaller w or h"))
        }
    }

    /// Refuses a step whose raster is too large even though the result, cut from it, would not be.
    func check(intermediate size: PixelSize) throws(ImageProcessingError) {
        guard size.area <= maxOutputPixels else {
            throw .badParameter(
                TransformError(
                    parameter: "w",
                    reason: "the picture would have to be enlarged to \(size) pixels on the way; at most "
                        + "\(maxOutputPixels) pixels are allowed"))
        }
    }
}
