import Foundation

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
