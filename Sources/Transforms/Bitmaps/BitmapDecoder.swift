import DarkroomRequests
import DarkroomVips
import NIOCore

/// Decodes a bitmap of a BMP or an icon to red, green and blue, and to alpha where a pixel may be transparent.
///
/// libvips reads bitmaps only through ImageMagick. Every access to the source and to the rows is checked for its
/// bounds, and no memory is taken before the file is known to have all of its rows, unless errors are tolerated.
struct BitmapDecoder: Sendable {
    let header: BitmapHeader
    let source: ByteBuffer

    /// An image with the header fields of the decoded image.
    func template() throws(VipsError) -> VipsImage {
        let profile = header.profile.flatMap { range in
            range.count <= SourceReader.maxProfileBytes
                ? source.getSlice(at: source.readerIndex + range.lowerBound, length: range.count) : nil
        }
        return try VipsCanvas.template(
            width: header.size.width, height: header.size.height, bands: header.bands, density: header.density,
            profile: profile)
    }

    /// - Parameter toleratesErrors: whether rows and runs that are missing stay black or transparent.
    func decode(toleratesErrors: Bool = false, interrupt: Interrupt) throws(ImageProcessingError) -> VipsImage {
        if !toleratesErrors { try header.requireEveryRow(in: source) }
        let canvas: VipsCanvas
        do {
            canvas = try VipsCanvas(template())
        } catch {
            throw .corrupt(error.description)
        }
        if header.encoding == .runs {
            var runs = RunLengthDecoder(header, source, palette: palette, canvas)
            try runs.decode(toleratesErrors: toleratesErrors, interrupt: interrupt)
        } else {
            try drawRows(on: canvas, interrupt: interrupt)
        }
        return canvas.image
    }

    /// 256 colors as red, green, blue and 255. Colors that the file lacks are black, as in browsers.
    private var palette: [UInt8] {
        var colors = [UInt8](repeating: 0, count: 1024)
        for index in 0..<256 { colors[4 * index + 3] = 255 }
        let (stored, entryBytes) = (header.palette, header.palette.entryBytes)
        let bytes = bytes(at: stored.start, count: stored.count * entryBytes)
        for index in 0..<bytes.count / entryBytes {
            for channel in 0..<3 { colors[4 * index + channel] = bytes[entryBytes * index + 2 - channel] }
        }
        return colors
    }

    private func drawRows(on canvas: VipsCanvas, interrupt: Interrupt) throws(ImageProcessingError) {
        let hasOwnAlpha = try hasVisibleAlpha(interrupt: interrupt)
        let reader = RowReader(header, palette: palette, readsAlpha: hasOwnAlpha)
        let isMasked = header.isIcon && !hasOwnAlpha && header.maskEnd <= source.readableBytes
        var samples = [UInt8](repeating: 255, count: header.size.width * header.bands)
        for y in 0..<header.size.height {
            if y.isMultiple(of: 64), interrupt() { throw .interrupted }
            let row = header.storedRow(y)
            guard header.pixelStart + row * header.rowStride + header.rowBytes <= source.readableBytes else { continue }
            reader.read(bytes(at: header.pixelStart + row * header.rowStride, count: header.rowBytes), into: &samples)
            if isMasked {
                let mask = bytes(at: header.maskStart + row * header.maskRowStride, count: header.maskRowBytes)
                for x in 0..<header.size.width {
                    samples[4 * x + 3] = mask[x >> 3] & (0x80 >> UInt8(x & 7)) == 0 ? 255 : 0
                }
            }
            canvas.write(samples, row: y)
        }
    }

    /// Whether the pixels have alpha. Of a bitmap in an icon, alpha of 0 everywhere is none: programs without support
    /// for alpha write 0, and the mask counts.
    private func hasVisibleAlpha(interrupt: Interrupt) throws(ImageProcessingError) -> Bool {
        guard case .masked(let masks) = header.encoding, masks.alpha != 0 else { return false }
        guard header.isIcon else { return true }
        let bytesPerPixel = header.bitsPerPixel / 8
        let alpha = (0..<bytesPerPixel).map { UInt8(truncatingIfNeeded: masks.alpha >> UInt32(8 * $0)) }
        for row in 0..<header.size.height {
            if row.isMultiple(of: 64), interrupt() { throw .interrupted }
            let bytes = bytes(at: header.pixelStart + row * header.rowStride, count: header.rowBytes)
            for index in bytes.indices where bytes[index] & alpha[index % bytesPerPixel] != 0 { return true }
        }
        return false
    }

    /// Bytes of the source, which has been checked to have them.
    private func bytes(at start: Int, count: Int) -> [UInt8] {
        source.getBytes(at: source.readerIndex + start, length: count) ?? [UInt8](repeating: 0, count: count)
    }
}

/// Converts rows of pixels that are not run-length encoded.
private struct RowReader {
    private let header: BitmapHeader
    private let palette: [UInt8]
    private let channels: [MaskedChannel]
    private let bands: Int

    /// - Parameter readsAlpha: false = alpha stays as it is in the samples.
    init(_ header: BitmapHeader, palette: [UInt8], readsAlpha: Bool) {
        self.header = header
        self.palette = palette
        bands = header.bands
        if case .masked(let masks) = header.encoding {
            let colors = [masks.red, masks.green, masks.blue]
            channels = (readsAlpha ? colors + [masks.alpha] : colors).map(MaskedChannel.init)
        } else {
            channels = []
        }
    }

    func read(_ row: [UInt8], into samples: inout [UInt8]) {
        switch header.encoding {
        case .indices, .runs: readIndices(row, into: &samples)
        case .triples:
            for x in 0..<header.size.width {
                for channel in 0..<3 { samples[bands * x + channel] = row[3 * x + 2 - channel] }
            }
        case .masked: readMasked(row, into: &samples)
        }
    }

    private func readIndices(_ row: [UInt8], into samples: inout [UInt8]) {
        let bits = header.bitsPerPixel
        let most = UInt8(truncatingIfNeeded: (1 << bits) - 1)
        for x in 0..<header.size.width {
            let position = x * bits
            let index = Int(row[position >> 3] >> UInt8(8 - bits - position & 7) & most)
            for channel in 0..<3 { samples[bands * x + channel] = palette[4 * index + channel] }
        }
    }

    private func readMasked(_ row: [UInt8], into samples: inout [UInt8]) {
        let isShort = header.bitsPerPixel == 16
        for x in 0..<header.size.width {
            let pixel: UInt32
            if isShort {
                pixel = UInt32(row[2 * x]) | UInt32(row[2 * x + 1]) << 8
            } else {
                let (low, high) = (
                    UInt32(row[4 * x]) | UInt32(row[4 * x + 1]) << 8,
                    UInt32(row[4 * x + 2]) | UInt32(row[4 * x + 3]) << 8
                )
                pixel = low | high << 16
            }
            for channel in channels.indices { samples[bands * x + channel] = channels[channel].sample(of: pixel) }
        }
    }
}
