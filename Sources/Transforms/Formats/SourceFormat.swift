import DarkroomRequests
import DarkroomVips
public import NIOCore

/// The supported source formats, detected by the bytes alone: a file name or a Content-Type proves nothing.
public enum SourceFormat: String, Codable, Sendable, CaseIterable {
    case jpeg, png, webp, gif, avif, heic, jxl, tiff, svg, bmp
    /// An icon or a cursor of several images. The image that suits the request is used.
    case ico

    /// The facts about the format, in a separate file.
    var row: Row {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .avif: .avif
        case .heic: .heic
        case .jxl: .jxl
        case .tiff: .tiff
        case .svg: .svg
        case .bmp: .bmp
        case .ico: .ico
        }
    }

    /// A format's row: everything that differs from format to format, except how the decoder uses a plan.
    struct Row: Sendable {
        /// Nil = the name of the case as a kind of image.
        var mediaType: String?
        var extensions: [String] = []
        /// Patterns of a file's first bytes, where nil is any byte. Formats without a pattern have a parser that
        /// detects them.
        var signatures: [[UInt8?]] = []
        /// Nil for bitmaps, which are decoded by ``BitmapDecoder``.
        var loader: VipsLoader?
        /// The codec that libheif must be able to decode.
        var codec: HEIFCodec?
        /// The package that adds the decoder to Debian's libvips; nil = another libvips.
        var debianPackage: String?
        /// Whether every complete build of libvips decodes it.
        var isEssential = false
        var isAnimation = false
        /// Whether each page has a size of its own.
        var hasPages = false
        var isVector = false
        /// Whether the decoder leaves it to us to apply the EXIF orientation.
        var statesOrientation = true
        /// Whether files state a density.
        var statesDensity = false
        /// The output format for the same image, if browsers support it; nil = PNG with alpha and JPEG without.
        var output: OutputFormat?
        /// How much detail so many bytes for each pixel of a file mean, see ``CostEstimate/Facts/detail``. By default,
        /// the file is compressed without loss.
        var detail: @Sendable (_ bytesPerPixel: Double, CostEstimate.Facts) -> Double = { bytes, _ in
            1.1 * bytes.squareRoot()
        }
        /// Whether a file may be a drawing that was not changed by lossy compression.
        var mayBeDrawing: @Sendable (CostEstimate.Facts) -> Bool = { _ in false }
        /// Bytes that the decoder holds in addition to the decoded pixels.
        var bytes: @Sendable (CostEstimate.Facts) -> Double
        /// Processor time of decoding in nanoseconds.
        var nanoseconds: @Sendable (CostEstimate.Facts) -> Double

        /// The detail of a file that was compressed with loss, which plain areas hardly change.
        static func lossyDetail(_ weightedBytes: Double) -> Double { max(0.25 + weightedBytes, 0.35) }
    }

    /// The usual spelling, such as `JPEG XL`.
    public var name: String { OutputFormat(rawValue: rawValue)?.name ?? rawValue.uppercased() }
    /// The names of all formats, such as `JPEG, PNG or GIF`.
    package static let names = allCases.map(\.name).listed("or")
    var mediaType: String { row.mediaType ?? "image/\(rawValue)" }
    /// The file extensions of a format that is not an output format.
    package var extensions: [String] { row.extensions }
    /// Whether its frames form an animation; the pages of other formats are separate images.
    public var isAnimation: Bool { row.isAnimation }
    /// Whether it is a vector format, drawn at any size.
    public var isVector: Bool { row.isVector }
    /// Whether this machine can decode it.
    public var isAvailable: Bool { InstalledCodecs.current.readable.contains(self) }

    /// The loader's options for the header of a page, or of the file in formats without pages.
    ///
    /// - Parameter page: counted from 1; ``PageSelection/primary`` leaves the choice to the loader, which takes the
    ///   primary image of a HEIC or AVIF file.
    func options(forPage page: Int) -> KeyValuePairs<String, VipsValue> {
        page >= 1 && row.hasPages ? ["access": "sequential", "page": .int(page - 1)] : ["access": "sequential"]
    }
}

extension SourceFormat {
    /// Detects the format by the first bytes; nil for an unsupported format.
    public init?(sniffing source: ByteBuffer) {
        guard let format = SourceFormat(signatureOf: source) ?? (SVGSource.matches(source) ? .svg : nil) else {
            return nil
        }
        self = format
    }

    /// Like `init(sniffing:)`, but by signature only: SVG, which has to be parsed, is never detected.
    public init?(signatureOf source: ByteBuffer) {
        let head = Array(source.readableBytesView.prefix(22))
        let signature = Self.signatures.first { _, pattern in
            head.count >= pattern.count && zip(pattern, head).allSatisfy { $0 == nil || $0 == $1 }
        }
        let icon = IconDirectory.matches(head) ? SourceFormat.ico : nil
        guard let format = signature?.format ?? Self.isoMediaFormat(source, head) ?? icon else { return nil }
        self = format
    }

    private static let signatures = allCases.flatMap { format in
        format.row.signatures.map { (format: format, pattern: $0) }
    }

    /// Detects HEIF and AVIF by the brands of their `ftyp` box (ISO/IEC 14496-12 §4.3).
    private static func isoMediaFormat(_ source: ByteBuffer, _ head: [UInt8]) -> SourceFormat? {
        guard head.count >= 12, Array(head[4..<8]) == Array("ftyp".utf8) else { return nil }
        let length = min(Int(head[2]) << 8 | Int(head[3]), source.readableBytes, 256)
        let brands = stride(from: 8, to: length - 3, by: 4).compactMap { offset in
            source.getString(at: source.readerIndex + offset, length: 4)
        }
        if brands.contains(where: ["avif", "avis"].contains) { return .avif }
        let heic: Set<String> = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
        return brands.contains(where: heic.contains) ? .heic : nil
    }
}
