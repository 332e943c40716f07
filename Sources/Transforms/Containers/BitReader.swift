import Foundation
import NIOCore

/// Reads integers of single bits.
struct BitReader {
    /// Which bit of a byte comes first.
    enum Order { case highestFirst, lowestFirst }

    private let bytes: ByteBufferView
    private let order: Order
    private var position = 0

    init(_ bytes: ByteBuffer, _ order: Order) {
        (self.bytes, self.order) = (bytes.readableBytesView, order)
    }

    /// The next `count` bits, at most 32; nil if there are fewer.
    mutating func read(_ count: Int) -> UInt32? {
        guard count <= 8 * bytes.count - position else { return nil }
        var value: UInt32 = 0
        for index in 0..<count {
            let byte = bytes[bytes.startIndex + position / 8]
            switch order {
            case .highestFirst: value = value << 1 | UInt32(byte >> (7 - position % 8) & 1)
            case .lowestFirst: value |= UInt32(byte >> (position % 8) & 1) << index
            }
            position += 1
        }
        return value
    }

    mutating func readFlag() -> Bool? { read(1).map { $0 == 1 } }

    /// Reads numbers of bits; false if there are fewer.
    mutating func skip(_ counts: Int...) -> Bool {
        position += counts.reduce(0, +)
        return position <= 8 * bytes.count
    }
}

extension UnsafeRawBufferPointer {
    /// The position of the next such byte. `firstIndex(of:)` compares byte by byte, which takes seconds for megabytes
    /// where the compiler does not optimize.
    func position(of byte: UInt8, from start: Int, to end: Int? = nil) -> Int? {
        let end = end ?? count
        guard let baseAddress, start < end, let found = memchr(baseAddress + start, Int32(byte), end - start) else {
            return nil
        }
        return UnsafeRawPointer(found) - baseAddress
    }
}
