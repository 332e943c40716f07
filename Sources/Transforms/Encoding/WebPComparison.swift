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

/// Whether an animation is like a film of a camera, in which most pixels differ from frame to frame, if only by noise.
///
/// Animated WebP holds what changes. libvips writes animated JPEG XL as whole frames, so that a drawing or a screen
/// recording, most of which stays as it is, is several times as large. Of 28 films and GIFs at 200 and 400 pixels, JPEG
/// XL was smaller for eleven, in which 35 % of the pixels changed at least.
enum FrameChanges {
    /// Every such row is compared.
    private static let rowDistance = 4

    /// - Parameter image: its frames have the same size and are in memory.
    static func areThroughout(_ image: ImageFrames) throws(VipsError) -> Bool {
        var (equal, compared) = (0, 0)
        for (frame, next) in zip(image.frames, image.frames.dropFirst()) {
            guard frame.size == next.size, frame.byteCount == next.byteCount else { return true }
            try frame.withSamples { (before: UnsafeRawBufferPointer) throws(VipsError) in
                try next.withSamples { (after: UnsafeRawBufferPointer) throws(VipsError) in
                    equal += equalPixels(before, after, of: frame)
                }
            }
            compared += frame.width * ((frame.height + rowDistance - 1) / rowDistance)
        }
        return equal * 3 <= compared * 2
    }

    private static func equalPixels(
        _ before: UnsafeRawBufferPointer, _ after: UnsafeRawBufferPointer, of frame: VipsImage
    ) -> Int {
        let rowBytes = before.count / frame.height
        let pixelBytes = rowBytes / frame.width
        var equal = 0
        for top in stride(from: 0, to: before.count, by: rowBytes * rowDistance) {
            for pixel in stride(from: top, to: top + rowBytes, by: pixelBytes) {
                let isEqual = (pixel..<pixel + pixelBytes).allSatisfy { before[$0] == after[$0] }
                equal += isEqual ? 1 : 0
            }
        }
        return equal
    }
}
