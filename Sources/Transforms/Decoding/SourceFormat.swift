import DarkroomVips
public import NIOCore

/// The supported source formats, detected by the bytes alone: a file name or a Content-Type proves nothing.
public enum SourceFormat: String, Codable, Sendable, CaseIterable {
    case jpeg, png, webp, gif, avif, heic, jxl, tiff, svg, bmp
    /// An icon or a cursor of several images, of which the one that suits the request is used.
    case ico

    /// Detects the format by the first bytes; nil for an unsupported one.
    public init?(sniffing source: ByteBuffer) {
        if let format = SourceFormat(signatureOf: source) {
            self = format
        } else if SVGSource.matches(source) {
            self = .svg
        } else {
            return nil
        }
    }

    /// Like `init(sniffing:)`, but by signature only: SVG, which has to be parsed, is never detected.
    public init?(signatureOf source: ByteBuffer) {
        let head = Array(source.readableBytesView.prefix(22))
        let signature = Self.signatures.first { $0.matches(head) }
        let icon = IconDirectory.matches(head) ? SourceFormat.ico : nil
        guard let format = signature?.format ?? Self.isoMediaFormat(source, head) ?? icon else { return nil }
        self = format
    }

    /// As people write it, such as `JPEG XL`.
    public var name: String {
        switch self {
        case .webp: "WebP"
        case .jxl: "JPEG XL"
        case .jpeg, .png, .gif, .avif, .heic, .tiff, .svg, .bmp, .ico: rawValue.uppercased()
        }
    }

    /// Whether its frames form an animation; the pages of other formats are separate images.
    public var isAnimation: Bool { self == .gif || self == .webp }

    /// Whether each page has a size of its own.
    var hasPagesOfDifferentSizes: Bool { self == .tiff || self == .heic || self == .avif }

    /// The loader's options for the header of a page, which is that of the file in other formats.
    ///
    /// - Parameter page: counted from 1; ``PageSelection/primary`` leaves the choice to the loader, which takes the
    ///   primary image of a HEIC or AVIF file.
    func options(forPage page: Int) -> KeyValuePairs<String, VipsValue> {
        page >= 1 && hasPagesOfDifferentSizes
            ? ["access": "sequential", "page": .int(page - 1)] : ["access": "sequential"]
    }

    /// Whether it is a vector format, drawn at any size.
    public var isVector: Bool { self == .svg }

    /// Whether the decoder leaves it to us to apply the EXIF orientation.
    var statesOrientation: Bool { self != .avif && self != .heic && self != .ico }

    /// Whether this machine can decode it.
    public var isAvailable: Bool { InstalledCodecs.current.readable.contains(self) }

    /// Nil for bitmaps, which are decoded by ``BitmapDecoder``.
    var loader: VipsLoader? {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .avif, .heic: .heif
        case .jxl: .jxl
        case .tiff: .tiff
        case .svg: .svg
        case .bmp, .ico: nil
        }
    }

    /// The first bytes of a file; nil = any byte.
    private struct Signature {
        let format: SourceFormat
        let pattern: [UInt8?]

        func matches(_ head: [UInt8]) -> Bool {
            head.count >= pattern.count && zip(pattern, head).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    private static let signatures: [Signature] = [
        Signature(format: .jpeg, pattern: [0xFF, 0xD8, 0xFF]),
        Signature(format: .png, pattern: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        Signature(format: .gif, pattern: Array("GIF87a".utf8)),
        Signature(format: .gif, pattern: Array("GIF89a".utf8)),
        Signature(format: .webp, pattern: Array("RIFF".utf8) + [nil, nil, nil, nil] + Array("WEBP".utf8)),
        Signature(format: .tiff, pattern: [0x49, 0x49, 0x2A, 0x00]),
        Signature(format: .tiff, pattern: [0x4D, 0x4D, 0x00, 0x2A]),
        Signature(format: .tiff, pattern: [0x49, 0x49, 0x2B, 0x00]),
        Signature(format: .tiff, pattern: [0x4D, 0x4D, 0x00, 0x2B]),
        // Text may begin with these letters, but no text has zeros in the length of the second header.
        Signature(
            format: .bmp, pattern: Array("BM".utf8) + Array(repeating: nil, count: 13) + [0, 0, 0]),
        Signature(format: .jxl, pattern: [0xFF, 0x0A]),
        Signature(format: .jxl, pattern: [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]),
    ]

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
