import DarkroomRequests
import DarkroomVips
import NIOCore

/// Decodes the runs of a bitmap (RLE4, RLE8, RLE24): pairs of a count and an index or color, and escapes that begin
/// with 0. Pixels that an escape skips are black, as in Chromium.
struct RunLengthDecoder {
    private let header: BitmapHeader
    private let palette: [UInt8]
    private let canvas: VipsCanvas
    private var rest: ByteBuffer
    private var x = 0
    /// Rows finished, in the file's order.
    private var rows = 0
    private var samples: [UInt8]

    /// - Parameter palette: 256 colors of four bytes.
    init(_ header: BitmapHeader, _ source: ByteBuffer, palette: [UInt8], _ canvas: VipsCanvas) {
        self.header = header
        self.palette = palette
        self.canvas = canvas
        let length = max(0, source.readableBytes - header.pixelStart)
        rest = source.getSlice(at: source.readerIndex + header.pixelStart, length: length) ?? ByteBuffer()
        samples = [UInt8](repeating: 0, count: 3 * header.size.width)
    }

    /// Draws all rows. A file that ends earlier without an end marker is corrupt.
    ///
    /// - Parameter toleratesErrors: whether what such a file has is drawn instead.
    mutating func decode(toleratesErrors: Bool, interrupt: Interrupt) throws(ImageProcessingError) {
        do throws(ImageProcessingError) {
            try drawRows(interrupt: interrupt)
        } catch {
            guard toleratesErrors, case .corrupt = error else { throw error }
            finishRow()
        }
    }

    private mutating func drawRows(interrupt: Interrupt) throws(ImageProcessingError) {
        while rows < header.size.height {
            guard let count = rest.readInteger(as: UInt8.self), let value = rest.readInteger(as: UInt8.self) else {
                guard rows == header.size.height - 1, x >= header.size.width else { throw Self.truncated }
                return finishRow()
            }
            switch (count, value) {
            case (0, 0):
                finishRow()
                if rows.isMultiple(of: 64), interrupt() { throw .interrupted }
            case (0, 1): return finishRow()
            case (0, 2): try skip()
            case (0, _): try drawLiterals(Int(value))
            default: try drawRun(Int(count), of: value)
            }
        }
    }

    private static let truncated = ImageProcessingError.corrupt("bitmap ends before its last row")

    private var isNibbles: Bool { header.bitsPerPixel == 4 }

    private var isColors: Bool { header.bitsPerPixel == 24 }

    /// Draws one color, one index, or two indices in turn. Pixels past the end of the row are left out.
    private mutating func drawRun(_ count: Int, of value: UInt8) throws(ImageProcessingError) {
        let visible = min(count, max(0, header.size.width - x))
        if isColors {
            // The value is the blue of the color.
            guard let others = rest.readBytes(length: 2) else { throw Self.truncated }
            let color = [value] + others
            for position in 0..<visible { drawColor(color, from: 0, at: position) }
        } else {
            for position in 0..<visible { drawIndex(value, at: position) }
        }
        x += count
    }

    /// Draws indices or colors that follow, padded to an even number of bytes.
    private mutating func drawLiterals(_ count: Int) throws(ImageProcessingError) {
        let length = isNibbles ? (count + 1) / 2 : isColors ? 3 * count : count
        guard let values = rest.readBytes(length: length) else { throw Self.truncated }
        rest.moveReaderIndex(forwardBy: min(length & 1, rest.readableBytes))
        for position in 0..<min(count, max(0, header.size.width - x)) {
            if isColors {
                drawColor(values, from: 3 * position, at: position)
            } else {
                drawIndex(values[isNibbles ? position / 2 : position], at: position)
            }
        }
        x += count
    }

    /// - Parameter value: an index of 8 bits, or two of 4.
    private mutating func drawIndex(_ value: UInt8, at position: Int) {
        let index = isNibbles ? Int(position & 1 == 0 ? value >> 4 : value & 15) : Int(value)
        for channel in 0..<3 { samples[3 * (x + position) + channel] = palette[4 * index + channel] }
    }

    /// - Parameter values: blue, green and red from `start` on.
    private mutating func drawColor(_ values: [UInt8], from start: Int, at position: Int) {
        for channel in 0..<3 { samples[3 * (x + position) + channel] = values[start + 2 - channel] }
    }

    /// Moves right and to a later row.
    private mutating func skip() throws(ImageProcessingError) {
        guard let right = rest.readInteger(as: UInt8.self), let down = rest.readInteger(as: UInt8.self) else {
            throw Self.truncated
        }
        let (column, row) = (x + Int(right), rows + Int(down))
        guard column <= header.size.width, row < header.size.height else {
            throw .corrupt("bitmap skips past its edge")
        }
        if down > 0 { finishRow() }
        (x, rows) = (column, row)
    }

    private mutating func finishRow() {
        canvas.write(samples, row: header.storedRow(rows))
        for index in samples.indices { samples[index] = 0 }
        (x, rows) = (0, rows + 1)
    }
}
