import DarkroomRequests
import DarkroomVips
import NIOCore

/// An encoded result.
struct EncodedImage {
    let body: ByteBuffer
    let format: OutputFormat
    /// Nil if the options leave the image no choice of a quality.
    var quality: ResultQuality?
    /// Whether the pixels of a lossy format are kept without loss, since that takes no more bytes.
    var isExact = false
    /// The time that encoding in the other format took; nil = the image was not compared.
    var comparison: Duration?
}

/// The choice between AVIF and WebP for an image whose format the server chooses, and between JPEG XL and WebP for an
/// animation.
///
/// AVIF is smaller for photographs, and JPEG XL for some films. A drawing that WebP holds without loss would lose
/// detail, and usually grow. So the result is the WebP if that keeps every pixel, or takes no more bytes.
struct WebPComparison {
    let output: OutputOptions
    /// The length of the WebP, from an earlier encode; nil = unknown.
    let knownBytes: Int?

    typealias Encode = () throws(ImageProcessingError) -> EncodedImage

    /// - Parameters:
    ///   - image: the frames in memory.
    ///   - encodePreferred: encodes it as AVIF, or an animation as JPEG XL.
    func result(
        for image: ImageFrames, preferred encodePreferred: Encode, webP encodeWebP: Encode
    ) throws(ImageProcessingError) -> EncodedImage {
        let (mayGain, mayBeExact): (Bool, Bool)
        do { (mayGain, mayBeExact) = try Self.expectation(of: image) } catch {
            throw .encodingFailed(error.description)
        }
        guard mayGain else { return try encodeWebP() }
        var stopwatch = Stopwatch()
        var webP: EncodedImage?
        // A WebP of a photograph is not needed if only its length counts, and not at all if both have a limit on bytes.
        if mayBeExact || knownBytes == nil && output.maxBytes == nil { webP = try encodeWebP() }
        let fits = { (image: EncodedImage) in image.body.readableBytes <= output.maxBytes ?? .max }
        if let webP, webP.isExact, fits(webP) { return webP }
        let timeOfWebP = stopwatch.lap()
        var preferred = try encodePreferred()
        let timeOfPreferred = stopwatch.lap()
        let bytes = output.maxBytes == nil ? webP?.body.readableBytes ?? knownBytes ?? .max : .max
        guard preferred.body.readableBytes >= bytes else {
            preferred.comparison = webP == nil ? nil : timeOfWebP
            return preferred
        }
        var smaller: EncodedImage
        if let webP { smaller = webP } else { smaller = try encodeWebP() }
        smaller.comparison = timeOfPreferred
        return smaller
    }

    /// Whether the preferred format may be smaller, and whether a WebP may be exact.
    private static func expectation(of image: ImageFrames) throws(VipsError) -> (mayGain: Bool, mayBeExact: Bool) {
        guard !image.isAnimated else { return (try FrameChanges.areThroughout(image), false) }
        let content = try PixelContent(of: image.first, maxArea: .max)
        return (true, content.isTiny || content.flatColors != nil)
    }
}

extension ImagePlan {
    /// The plan of the preferred format, or of the WebP, in a comparison.
    func compared(as format: OutputFormat) -> ImagePlan {
        var plan = self
        (plan.format, plan.choiceWork) = (format, format == .webp ? webPChoiceWork ?? 0 : 0)
        plan.webPChoiceWork = nil
        return plan
    }
}
