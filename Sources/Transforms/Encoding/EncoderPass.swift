import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore

/// Encodes finished pixels, as often as it takes to find the quality that the options leave to the image.
struct EncoderPass {
    let encoder: Encoder
    let saver: VipsSaver
    /// All pixels in memory; the frames of an animation below each other.
    let pixels: VipsImage
    let metadata: ResultMetadata

    /// The least default quality of a tiny image, whose header is longer than its pixels.
    private static let tinyQuality = 95

    /// The image at the quality that the options ask for, which is nil if they leave no choice to the image. A drawing
    /// that is not larger without loss is encoded without loss.
    func encode() throws(VipsError) -> EncodedImage {
        let (body, quality) = try encodeAsAsked()
        let lossy = EncodedImage(body: body, format: encoder.format, quality: quality)
        guard encoder.mayBeSmallerWithoutLoss else { return lossy }
        let exact = try EncoderPass(encoder: encoder.withoutLoss, saver: saver, pixels: pixels, metadata: metadata)
            .encode(1)
        guard exact.readableBytes <= lossy.body.readableBytes else { return lossy }
        let fits = encoder.options.maxBytes.map { exact.readableBytes <= $0 } ?? true
        return EncodedImage(
            body: exact, format: encoder.format, quality: quality.map { _ in ResultQuality(value: nil, fits: fits) },
            isExact: true)
    }

    private func encodeAsAsked() throws(VipsError) -> (body: ByteBuffer, quality: ResultQuality?) {
        let options = encoder.options
        guard !options.lossless, !options.nearLossless, let usual = encoder.format.defaultQuality else {
            let body = try encode(1)
            return (body, options.maxBytes.map { ResultQuality(value: nil, fits: body.readableBytes <= $0) })
        }
        var chosen = options.quality ?? (encoder.content.isTiny ? max(usual, Self.tinyQuality) : usual)
        if let target = options.target {
            chosen = try QualityChooser(format: encoder.format, pixels: pixels).quality(for: target) ?? chosen
        }
        guard let maxBytes = options.maxBytes else {
            return (try encode(chosen), options.target.map { _ in ResultQuality(value: chosen) })
        }
        let search = ByteSearch(maxBytes: maxBytes, maxEncodes: encoder.format.row.searchEncodes) {
            quality throws(VipsError) in
            // Otherwise the memory of a large encode adds to the memory of the next one, since glibc keeps both.
            if pixels.byteCount > 2 << 20 { VipsRuntime.returnFreedPages() }
            return try encode(quality)
        }
        return try search.result(from: chosen)
    }

    /// The image at a quality of 1…100, which a format without quality ignores.
    private func encode(_ quality: Int) throws(VipsError) -> ByteBuffer {
        // Not every encoder asks while it works.
        guard !encoder.interrupt() else { throw VipsError(operation: saver.rawValue, message: "interrupted") }
        if encoder.format == .avif, let avif = encoder.avif(quality, pixels, isSRGB: metadata.isSRGB) {
            return try avif.encode(
                metadata.isSRGB && !pixels.isShort ? pixels.convertedToSRGB() : pixels, exif: metadata.exif(of: pixels),
                xmp: metadata.packet)
        }
        let body = try saver.encode(
            pixels, encoder.format.row.arguments(encoder, quality, !metadata.isWrittenBySaver),
            interrupt: encoder.interrupt)
        switch encoder.format {
        case .webp:
            let file = metadata.hasEXIF ? body : WebPContainer.removingEXIF(from: body)
            return metadata.adding(to: pixels.hasAlpha ? WebPContainer.statingAlpha(of: file) : file)
        case .png:
            return metadata.adding(to: try indexed(insteadOf: body) ?? body)
        default:
            return metadata.adding(to: body)
        }
    }

    /// The same pixels as indices of a palette; nil if they have too many colors, or if that is not smaller.
    private func indexed(insteadOf body: ByteBuffer) throws(VipsError) -> ByteBuffer? {
        let isInterlaced = encoder.options.interlaced
        guard encoder.choiceWork > 0, pixels.isByte, pixels.bands == 3 || pixels.bands == 4,
            let image = try IndexedPNG(of: pixels, packs: !isInterlaced),
            let file = try image.file(
                like: body, level: encoder.efforts.png, interlaced: isInterlaced, interrupt: encoder.interrupt)
        else { return nil }
        return file.readableBytes < body.readableBytes ? file : nil
    }
}

/// The search for the best quality at which an image has at most so many bytes.
///
/// The logarithm of the size is nearly a line over the quality, so a search begins with guesses. A guess leaves no more
/// qualities than the encodes that remain can narrow down to ``resolution`` by halving: the result is less than that
/// below the best, if it is not close enough to the limit anyway.
struct ByteSearch {
    let maxBytes: Int
    /// The most encodes of the search.
    let maxEncodes: Int
    let encode: (Int) throws(VipsError) -> ByteBuffer

    /// The lowest quality that is tried, unless a lower quality was requested.
    static let floor = 20
    /// A result of at least this share of the bytes is good enough to end the search.
    private static let closeEnough = 0.97
    /// The fraction by which a photograph shrinks with each step of quality, used while only one size is known.
    private static let usualSlope = 0.03

    private struct Trial {
        let quality: Int
        let body: ByteBuffer

        var logarithm: Double { log(Double(max(body.readableBytes, 1))) }
    }

    /// - Parameter quality: the best quality to try.
    /// - Returns: the best image found that fits; if even the lowest quality does not fit, the image at that quality.
    func result(from quality: Int) throws(VipsError) -> (body: ByteBuffer, quality: ResultQuality?) {
        var over = Trial(quality: quality, body: try encode(quality))
        if fits(over) { return (over.body, ResultQuality(value: quality)) }
        var under: Trial?
        var slope = Self.usualSlope
        for encodesLeft in stride(from: maxEncodes - 2, through: 0, by: -1) {
            let lowest = under.map { $0.quality + 1 } ?? Self.floor
            if lowest >= over.quality || under.map(isCloseEnough) == true { break }
            let range = resolvable(under?.quality, over.quality, encodesLeft)
            let bounded = min(max(guess(over, under, slope), range.lowerBound), range.upperBound)
            let next = min(max(bounded, lowest), over.quality - 1)
            let trial = Trial(quality: next, body: try encode(next))
            if fits(trial) {
                under = trial
            } else {
                slope = max((over.logarithm - trial.logarithm) / Double(over.quality - next), Self.usualSlope / 4)
                over = trial
            }
        }
        if let under { return (under.body, ResultQuality(value: under.quality)) }
        return (over.body, ResultQuality(value: over.quality, fits: false))
    }

    /// The qualities that remain at worst: 3 with six encodes, 6 with five.
    var resolution: Int {
        let parts = (1 << (maxEncodes - 1)) - 1
        return (100 - Self.floor + parts - 1) / parts
    }

    /// The qualities to try next after which so many encodes always reach the resolution by halving. While none fits,
    /// the last encode has the lowest quality.
    ///
    /// - Parameters:
    ///   - fitting: the greatest quality known to fit; nil = none is.
    ///   - tooLarge: the least quality known not to fit.
    private func resolvable(_ fitting: Int?, _ tooLarge: Int, _ encodesLeft: Int) -> ClosedRange<Int> {
        let span = resolution << encodesLeft
        let highest = fitting.map { $0 + span } ?? Self.floor + span - resolution
        return min(tooLarge - span, highest)...highest
    }

    /// The quality at which the size should be just below the limit.
    private func guess(_ over: Trial, _ under: Trial?, _ slope: Double) -> Int {
        let goal = log(Double(maxBytes) * (1 + Self.closeEnough) / 2)
        let steepness = under.map { (over.logarithm - $0.logarithm) / Double(over.quality - $0.quality) } ?? slope
        return Int(max(Double(over.quality) - (over.logarithm - goal) / max(steepness, 1e-6), 0).rounded(.down))
    }

    private func fits(_ trial: Trial) -> Bool { trial.body.readableBytes <= maxBytes }

    private func isCloseEnough(_ trial: Trial) -> Bool {
        Double(trial.body.readableBytes) >= Double(maxBytes) * Self.closeEnough
    }
}
