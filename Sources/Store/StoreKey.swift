public import Crypto
package import DarkroomMachine
import DarkroomNetwork
import NIOCore

/// A SHA-256 digest that identifies a source or an entry in a store.
///
/// The store never sees the hashed text: the code that builds the keys decides which requests are equal.
public struct StoreKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The length of the digest: 32 bytes.
    public static let byteCount = SHA256Digest.byteCount

    // Four big-endian words, inline, so that tables of keys allocate nothing per key.

    /// The first 64 bits of the digest.
    let leadingWord: UInt64
    private let secondWord, thirdWord: UInt64
    /// The last 64 bits of the digest.
    let trailingWord: UInt64

    public init(_ digest: SHA256Digest) {
        self = digest.withUnsafeBytes { Self(reading: $0) }
    }

    /// The SHA-256 of these bytes.
    public init(hashing bytes: some Sequence<UInt8>) {
        var hasher = SHA256()
        let whole: Void? = bytes.withContiguousStorageIfAvailable {
            hasher.update(bufferPointer: UnsafeRawBufferPointer($0))
        }
        if whole == nil {
            hasher.update(data: Array(bytes))
        }
        self.init(hasher.finalize())
    }

    /// The SHA-256 of these bytes, which may have been computed while they arrived.
    package init(of bytes: SharedBytes) {
        if let digest = bytes.digest { self.init(digest) } else { self.init(hashing: bytes.buffer.readableBytesView) }
    }

    /// The key with this digest, or nil unless it is exactly 32 bytes long.
    public init?(digest: some Sequence<UInt8>) {
        func read(_ bytes: UnsafeRawBufferPointer) -> StoreKey? {
            bytes.count == Self.byteCount ? Self(reading: bytes) : nil
        }
        let contiguous = digest.withContiguousStorageIfAvailable { read(UnsafeRawBufferPointer($0)) }
        guard let key = contiguous ?? Array(digest).withUnsafeBytes(read) else { return nil }
        self = key
    }

    fileprivate init(reading bytes: UnsafeRawBufferPointer) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        (leadingWord, secondWord, thirdWord, trailingWord) = (word(0), word(1), word(2), word(3))
    }

    /// The key with this ``hex``, or nil for anything but 64 lowercase hexadecimal digits.
    package init?(hex: some StringProtocol) {
        // Without an allocation, because each memory hit reads a key.
        let contiguous = hex.utf8.withContiguousStorageIfAvailable(Self.init(digits:))
        guard let key = contiguous ?? Array(hex.utf8).withUnsafeBufferPointer(Self.init(digits:)) else { return nil }
        self = key
    }

    private init?(digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 2 * Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64? {
            var word: UInt64 = 0
            for digit in digits[16 * index..<16 * (index + 1)] {
                guard let value = Self.value(ofDigit: digit) else { return nil }
                word = word << 4 | UInt64(value)
            }
            return word
        }
        guard let first = word(0), let second = word(1), let third = word(2), let fourth = word(3) else { return nil }
        (leadingWord, secondWord, thirdWord, trailingWord) = (first, second, third, fourth)
    }

    /// The digest's 32 bytes.
    public var bytes: [UInt8] { withBytes { Array($0) } }

    /// Calls `body` with the digest's 32 bytes, without an allocation.
    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        let words = (leadingWord.bigEndian, secondWord.bigEndian, thirdWord.bigEndian, trailingWord.bigEndian)
        return try withUnsafeBytes(of: words, body)
    }

    /// The digest as 64 lowercase hexadecimal digits.
    public var hex: String {
        String(unsafeUninitializedCapacity: 2 * Self.byteCount) { digits in
            writeHex(into: digits, at: 0)
            return 2 * Self.byteCount
        }
    }

    /// Writes the digest as 64 lowercase hexadecimal digits, without an allocation.
    func writeHex(into digits: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        withBytes { bytes in
            for (index, byte) in bytes.enumerated() {
                digits[start + 2 * index] = Self.digit(byte >> 4)
                digits[start + 2 * index + 1] = Self.digit(byte & 15)
            }
        }
    }

    /// The first twelve bits of the digest, which are its first three hexadecimal digits.
    var leadingBits: Int { Int(leadingWord >> 52) }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Orders keys by the bytes of their digests, which is the order of ``hex``.
    public static func < (left: StoreKey, right: StoreKey) -> Bool {
        (left.leadingWord, left.secondWord, left.thirdWord, left.trailingWord)
            < (right.leadingWord, right.secondWord, right.thirdWord, right.trailingWord)
    }

    /// The same as ``hex``.
    public var description: String { hex }
}

extension ByteBuffer {
    /// Reads a digest's 32 bytes; nil if fewer are left.
    package mutating func readKey() -> StoreKey? {
        guard readableBytes >= StoreKey.byteCount else { return nil }
        defer { moveReaderIndex(forwardBy: StoreKey.byteCount) }
        return withUnsafeReadableBytes { StoreKey(reading: $0) }
    }
}

/// The key of an entry, with the key of its source.
///
/// All entries of a source, its original and every variant, share ``source`` and can be removed together.
public struct EntryKey: Hashable, Sendable {
    public var source: StoreKey
    /// The key of the entry itself, different for the original and for each variant.
    public var entry: StoreKey

    /// The key of `entry` among the entries of `source`.
    public init(source: StoreKey, entry: StoreKey) {
        self.source = source
        self.entry = entry
    }
}
