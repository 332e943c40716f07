public import Crypto
package import DarkroomMachine
import NIOCore

/// A SHA-256 digest that identifies a source or an entry in a store.
///
/// The store never sees the hashed text: the code that builds the keys decides which requests are equal.
public struct StoreKey: Hashable, Sendable {
    /// The length of the digest: 32 bytes.
    public static let byteCount = SHA256Digest.byteCount

    /// The digest as four big-endian words: inline, so that tables of keys allocate nothing per key.
    private let words: InlineWords

    /// The key with this digest.
    public init(_ digest: SHA256Digest) {
        words = digest.withUnsafeBytes(InlineWords.init(reading:))
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
        let contiguous = digest.withContiguousStorageIfAvailable { Self(reading: UnsafeRawBufferPointer($0)) }
        if let contiguous {
            guard let contiguous else { return nil }
            self = contiguous
            return
        }
        let bytes = Array(digest)
        guard bytes.count == Self.byteCount else { return nil }
        words = bytes.withUnsafeBytes(InlineWords.init(reading:))
    }

    private init?(reading bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        words = InlineWords(reading: bytes)
    }

    /// The key with this ``hex``, or nil for anything but 64 lowercase hexadecimal digits.
    package init?(hex: some StringProtocol) {
        let digits = Array(hex.utf8)
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(ofDigit: digits[index]), let low = Self.value(ofDigit: digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.init(digest: bytes)
    }

    /// The digest's 32 bytes.
    public var bytes: [UInt8] { withBytes { Array($0) } }

    /// Calls `body` with the digest's 32 bytes, without an allocation.
    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try withUnsafeBytes(of: words.bigEndian, body)
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
    var leadingBits: Int { Int(words.first >> 52) }

    /// The first 64 bits of the digest.
    var leadingWord: UInt64 { words.first }

    /// The last 64 bits of the digest.
    var trailingWord: UInt64 { words.fourth }

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
}

extension StoreKey: Comparable {
    /// Orders keys by the bytes of their digests, which is the order of ``hex``.
    public static func < (left: StoreKey, right: StoreKey) -> Bool {
        left.words.isBefore(right.words)
    }
}

extension StoreKey: CustomStringConvertible {
    /// The same as ``hex``.
    public var description: String { hex }
}

/// Four words in a row, read from 32 bytes.
private struct InlineWords: Hashable, Sendable {
    let first, second, third, fourth: UInt64

    init(reading bytes: UnsafeRawBufferPointer) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        first = word(0)
        second = word(1)
        third = word(2)
        fourth = word(3)
    }

    private init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        self.first = first
        self.second = second
        self.third = third
        self.fourth = fourth
    }

    var bigEndian: InlineWords {
        InlineWords(first.bigEndian, second.bigEndian, third.bigEndian, fourth.bigEndian)
    }

    func isBefore(_ other: InlineWords) -> Bool {
        if first != other.first { return first < other.first }
        if second != other.second { return second < other.second }
        if third != other.third { return third < other.third }
        return fourth < other.fourth
    }
}

/// The key of an entry, with the key of its source.
///
/// All entries of a source, its original and every variant, share ``source`` and can be removed together.
public struct EntryKey: Hashable, Sendable {
    /// The key of the source.
    public var source: StoreKey
    /// The key of the entry itself, different for the original and for each variant.
    public var entry: StoreKey

    /// The key of `entry` among the entries of `source`.
    public init(source: StoreKey, entry: StoreKey) {
        self.source = source
        self.entry = entry
    }
}
