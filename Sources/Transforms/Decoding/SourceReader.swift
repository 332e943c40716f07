import DarkroomVips
import NIOCore

/// The decoder of a source, with the bytes that it reads: one of libvips' loaders, or ``BitmapDecoder``.
///
/// An image with a profile of more than ``maxProfileBytes`` is read as an image without one, and a PNG with long
/// compressed texts as one without them.
struct SourceReader: Sendable {
    /// The longest profile that is used, in bytes. Profiles of presses have up to 3 MB.
    static let maxProfileBytes = 4 << 20

    /// The bytes of a gzipped SVG are inflated. The bytes of an icon with a PNG begin with the PNG.
    let bytes: ByteBuffer
    private let codec: Codec

    private enum Codec {
        /// The image of an icon gets an alpha channel.
        case loader(VipsLoader, addsAlpha: Bool)
        case bitmap(BitmapDecoder)
    }

    /// - Parameter entry: the index of an icon's image; nil = the largest.
    init(of source: ByteBuffer, _ format: SourceFormat, entry: Int? = nil) throws(ImageProcessingError) {
        if let loader = format.row.loader {
            bytes =
                switch format {
                case .svg: try SVGSource.plain(source)
                case .png: PNGContainer.withoutLongTexts(source)
                default: source
                }
            codec = .loader(loader, addsAlpha: false)
        } else if format == .bmp {
            bytes = source
            codec = .bitmap(BitmapDecoder(header: try BitmapHeader(ofFile: source), source: source))
        } else {
            let directory = try IconDirectory(of: source)
            let entry = directory.entries[entry ?? directory.largest]
            switch entry.format {
            case .bitmap(let header):
                bytes = source
                codec = .bitmap(BitmapDecoder(header: header, source: source))
            case .png:
                let length = source.readableBytes - entry.start
                let file = source.getSlice(at: source.readerIndex + entry.start, length: length) ?? source
                if PNGContainer.isTruncatedBeforePixels(file) { throw .corrupt("PNG in an icon ends inside a chunk") }
                bytes = PNGContainer.withoutLongTexts(file)
                codec = .loader(.png, addsAlpha: true)
            }
        }
    }

    /// Passes an image with the header's fields to `body`, which must not read its pixels.
    func withFields<Result>(
        _ options: KeyValuePairs<String, VipsValue>, _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(ImageProcessingError) -> Result {
        do {
            switch codec {
            case .loader(let loader, let addsAlpha):
                return try open(loader, options) { lazy throws(VipsError) in
                    try body(addsAlpha ? lazy.addingAlpha() : lazy)
                }
            case .bitmap(let decoder):
                return try body(decoder.template())
            }
        } catch {
            throw .corrupt(error.description)
        }
    }

    /// Decodes into memory, to the last row.
    ///
    /// - Parameter toleratesErrors: whether missing parts become gray.
    func pixels(
        _ options: KeyValuePairs<String, VipsValue>, toleratesErrors: Bool, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> VipsImage {
        switch codec {
        case .bitmap(let decoder):
            return try decoder.decode(interrupt: interrupt)
        case .loader(let loader, let addsAlpha):
            if loader == .png, PNGContainer.hasWrongChecksum(bytes) { throw .corrupt("PNG with a wrong checksum") }
            do {
                return try open(loader, options, toleratesErrors: toleratesErrors) { lazy throws(VipsError) in
                    try (addsAlpha ? lazy.addingAlpha() : lazy.withUnsignedSamples()).rendered(interrupt: interrupt)
                }
            } catch {
                throw interrupt() ? .interrupted : .corrupt(error.description)
            }
        }
    }

    private func open<Result>(
        _ loader: VipsLoader, _ options: KeyValuePairs<String, VipsValue>, toleratesErrors: Bool = false,
        _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        try loader.withImage(of: bytes, options, toleratesErrors: toleratesErrors) { lazy throws(VipsError) in
            try body(lazy.withoutLongProfile())
        }
    }
}

extension VipsImage {
    fileprivate func withoutLongProfile() throws(VipsError) -> VipsImage {
        guard let profile = blob("icc-profile-data"), profile.readableBytes > SourceReader.maxProfileBytes else {
            return self
        }
        return try setting(removing: ["icc-profile-data"])
    }
}
