import DarkroomRequests

extension PixelLimits {
    /// Refuses a source whose used frames are too large or too many. A single frame may be too large if the decoder
    /// `shrinks` it to fit.
    func check(_ header: SourceHeader, framesUsed: Int, shrinks: Bool = false) throws(ImageProcessingError) {
        let isReachable = header.shrinking.largestSize(of: header.size, within: maxSourcePixels) != nil
        guard header.size.area <= maxSourcePixels || (shrinks && isReachable) else {
            throw .tooLarge(
                "The source is \(header.size) pixels; at most \(maxSourcePixels) pixels per frame are accepted.")
        }
        let advice = "Ask for fewer, for example with \(fewerFrames(than: framesUsed, of: header))."
        guard framesUsed <= maxFrames else {
            throw .tooLarge("The animation has \(framesUsed) frames; at most \(maxFrames) are accepted. \(advice)")
        }
        let (total, overflow) = header.size.area.multipliedReportingOverflow(by: framesUsed)
        guard !overflow, framesUsed == 1 || total <= maxAnimationPixels else {
            throw .tooLarge(
                "The animation's \(framesUsed) frames of \(header.size) pixels exceed the "
                    + "\(maxAnimationPixels) pixels accepted in total. \(advice)")
        }
    }

    /// Parameters for so many frames that no limit refuses them, not even the one on time for a GIF of the same size.
    private func fewerFrames(than frames: Int, of header: SourceHeader) -> String {
        let (area, limit) = (Double(max(header.size.area, 1)), Double(maxProcessingMilliseconds) * 1e6)
        // Frames that are not picked are decoded all the same.
        let decoding = area * Double(frames) * Self.decodingNanoseconds
        let picks = decoding <= limit / 2
        let affordable =
            (picks ? limit - decoding : limit) / (area * Self.nanosecondsPerPixel + Self.nanosecondsPerFrame)
        let fitting = min(Double(maxFrames), Double(maxAnimationPixels) / area, affordable)
        return picks || fitting < 2 ? header.format.parameters(forFrames: Int(fitting)) : "n=\(Int(fitting))"
    }

    /// Upper bounds of what a frame takes, see ``SourceFormat/Row/nanoseconds`` and ``OutputFormat/Row``.
    private static let (decodingNanoseconds, nanosecondsPerPixel, nanosecondsPerFrame) = (40.0, 290.0, 1.2e6)

    /// Refuses a result that is too large.
    ///
    /// - Parameter parameter: the query parameter that sets the size; nil = the source does.
    func check(output size: PixelSize, setBy parameter: String?) throws(ImageProcessingError) {
        guard max(size.width, size.height) <= maxOutputSide, size.area <= maxOutputPixels else {
            throw .tooLarge(
                parameter,
                "the result would be \(size) pixels; at most \(maxOutputSide) per side and \(maxOutputPixels) in total "
                    + "are allowed, so ask for a smaller width, height or padding")
        }
    }

    /// Refuses a step whose raster is too large although the result, cropped from it, would not be.
    func check(intermediate size: PixelSize, setBy parameter: String?) throws(ImageProcessingError) {
        guard size.area <= maxOutputPixels else {
            throw .tooLarge(
                parameter,
                "the image would have to be enlarged to \(size) pixels on the way; at most \(maxOutputPixels) pixels "
                    + "are allowed")
        }
    }
}

extension SourceFormat {
    /// The parameters that keep so many frames of an animation and its duration, or so many pages.
    func parameters(forFrames count: Int) -> String {
        count < 2 ? "n=1" : isAnimation ? "n=\(count)&pick=even" : "n=\(count)"
    }
}

extension ImageProcessingError {
    /// The error of the parameter that makes an image too large; nil = the source does.
    static func tooLarge(_ parameter: String?, _ reason: String) -> ImageProcessingError {
        guard let parameter else { return .tooLarge("\(reason.prefix(1).uppercased())\(reason.dropFirst()).") }
        return .badParameter(parameter, reason)
    }

    /// The error of this parameter, with a sentence for the client.
    static func badParameter(_ parameter: String, _ reason: String) -> ImageProcessingError {
        .badParameter(TransformError(parameter: parameter, reason: reason))
    }
}
