import Foundation
import NIOCore
import Transforms

/// What is stored beside an original's bytes.
struct OriginalRecord: Hashable, Sendable {
    /// When the origin's answer arrived.
    var fetchedAt: Date
    /// What the origin said about its last change.
    var lastModified: Date?

    private static let revision: UInt8 = 1

    init(fetchedAt: Date, lastModified: Date?) {
        self.fetchedAt = fetchedAt
        self.lastModified = lastModified
    }

    /// Nil where the bytes were written by another revision.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision, let fetchedAt = bytes.readDate(),
            let stated = bytes.readOptionalDate()
        else { return nil }
        self.init(fetchedAt: fetchedAt, lastModified: stated)
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeDate(fetchedAt)
        bytes.writeDate(lastModified)
        return bytes
    }
}

/// What is stored beside a variant's bytes.
struct VariantRecord: Hashable, Sendable {
    var original: OriginalRecord
    var format: OutputFormat
    /// SHA-256 of the body, 64 hexadecimal digits.
    var digest: String

    private static let revision: UInt8 = 1

    init(original: OriginalRecord, format: OutputFormat, digest: String) {
        self.original = original
        self.format = format
        self.digest = digest
    }

    /// Nil where the bytes were written by another revision.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision, let fetchedAt = bytes.readDate(),
            let stated = bytes.readOptionalDate(), let length = bytes.readInteger(as: UInt8.self),
            let name = bytes.readString(length: Int(length)), let format = OutputFormat(rawValue: name),
            let digest = bytes.readString(length: 64)
        else { return nil }
        self.init(
            original: OriginalRecord(fetchedAt: fetchedAt, lastModified: stated), format: format, digest: digest)
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeDate(original.fetchedAt)
        bytes.writeDate(original.lastModified)
        bytes.writeInteger(UInt8(format.rawValue.utf8.count))
        bytes.writeString(format.rawValue)
        bytes.writeString(digest)
        return bytes
    }
}

/// Dates as milliseconds since 1970; the smallest number stands for none.
extension ByteBuffer {
    fileprivate mutating func writeDate(_ date: Date?) {
        writeInteger(date.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) } ?? Int64.min)
    }

    fileprivate mutating func readDate() -> Date? {
        readOptionalDate() ?? nil
    }

    /// The outer nil says that there are not enough bytes.
    fileprivate mutating func readOptionalDate() -> Date?? {
        guard let milliseconds = readInteger(as: Int64.self) else { return nil }
        guard milliseconds != .min else { return .some(nil) }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
