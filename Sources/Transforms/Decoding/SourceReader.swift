import DarkroomVips
import NIOCore

/// The decoder of a source, with the bytes that it reads: one of libvips' loaders, or ``BitmapDecoder``.
struct SourceReader: Sendable {
    /// The bytes of a gzipped SVG are inflated. The bytes of an icon with a PNG begin with the PNG.
    let bytes: ByteBuffer
    private let codec: Codec

    private enum Codec {
        case loader(VipsLoader)
        case iconPNG
        case bitmap(BitmapDecoder)
    }

    /// - Parameter entry: the index of an icon's image; nil = the largest.
    init(of source: ByteBuffer, _ format: SourceFormat, entry: Int? = nil) throws(ImageProcessingError) {
        if let loader = format.loader {
            bytes = format == .svg ? try SVGSource.plain(source) : source
            codec = .loader(loader)
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
                bytes = source.getSlice(at: source.readerIndex + entry.start, length: length) ?? source
                codec = .iconPNG
                if PNGChunks.exceedsSource(bytes) { throw .corrupt("PNG in an icon ends inside a chunk") }
            }
        }
    }

    /// Passes an image with the header's fields to `body`, which must not read its pixels.
    func withFields<Result>(
        _ options: KeyValuePairs<String, VipsValue> = ["access": "sequential"],
        _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        switch codec {
        case .loader(let loader):
            try loader.withImage(of: bytes, options, body)
        case .iconPNG:
            try VipsLoader.png.withImage(of: bytes, options) { lazy throws(VipsError) in try body(lazy.addingAlpha()) }
        case .bitmap(let decoder):
            try body(try decoder.fields.imageWithoutPixels())
        }
    }

    private var isPNG: Bool {
        switch codec {
        case .iconPNG, .loader(.png): true
        case .loader, .bitmap: false
        }
    }

    /// Decodes into memory, to the last row.
    ///
    /// - Parameter toleratesErrors: whether missing parts become gray.
    func pixels(
        _ options: KeyValuePairs<String, VipsValue>, toleratesErrors: Bool, interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> VipsImage {
        if case .bitmap(let decoder) = codec { return try decoder.decode(interrupt: interrupt) }
        if isPNG, PNGChunks.hasWrongChecksum(bytes) { throw .corrupt("PNG with a wrong checksum") }
        do {
            if case .loader(let loader) = codec {
                return try loader.withImage(of: bytes, options, toleratesErrors: toleratesErrors) {
                    lazy throws(VipsError) in try lazy.withUnsignedSamples().rendered(interrupt: interrupt)
                }
            }
            return try VipsLoader.png.withImage(of: bytes, options) { lazy throws(VipsError) in
                try lazy.addingAlpha().rendered(interrupt: interrupt)
            }
        } catch {
            throw interrupt() ? .interrupted : .corrupt(error.description)
        }
    }
}
