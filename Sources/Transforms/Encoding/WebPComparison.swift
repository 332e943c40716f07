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

/// The choice between AVIF and WebP for an image whose format the server chooses.
///
/// AVIF is smaller for photographs. A drawing that WebP holds without loss would lose detail, and usually grow. So the
/// result is the WebP if that keeps every pixel, or takes no more bytes.
struct WebPComparison {
    let output: OutputOptions
    /// The length of the WebP, from an earlier encode; nil = unknown.
    let knownBytes: Int?

    typealias Encode = () throws(ImageProcessingError) -> EncodedImage

    /// - Parameter pixels: the image in memory.
    func result(
        for pixels: VipsImage, avif encodeAVIF: Encode, webP encodeWebP: Encode
    ) throws(ImageProcessingError) -> EncodedImage {
        let content: PixelContent
        do { content = try PixelContent(of: pixels, maxArea: .max) } catch { throw .encodingFailed(error.description) }
        var stopwatch = Stopwatch()
        var webP: EncodedImage?
        // A WebP of a photograph is not needed if only its length counts, and not at all if both have a limit on bytes.
        if content.isTiny || content.flatColors != nil || knownBytes == nil && output.maxBytes == nil {
            webP = try encodeWebP()
        }
        let fits = { (image: EncodedImage) in image.body.readableBytes <= output.maxBytes ?? .max }
        if let webP, webP.isExact, fits(webP) { return webP }
        let timeOfWebP = stopwatch.lap()
        var avif = try encodeAVIF()
        let timeOfAVIF = stopwatch.lap()
        let bytes = output.maxBytes == nil ? webP?.body.readableBytes ?? knownBytes ?? .max : .max
        guard avif.body.readableBytes >= bytes else {
            avif.comparison = webP == nil ? nil : timeOfWebP
            return avif
        }
        var smaller: EncodedImage
        if let webP { smaller = webP } else { smaller = try encodeWebP() }
        smaller.comparison = timeOfAVIF
        return smaller
    }
}

extension ImagePlan {
    /// The plan of the AVIF, or of the WebP, in a comparison.
    func compared(as format: OutputFormat) -> ImagePlan {
        var plan = self
        (plan.format, plan.choiceWork) = (format, format == .webp ? webPChoiceWork ?? 0 : 0)
        plan.webPChoiceWork = nil
        return plan
    }
}
