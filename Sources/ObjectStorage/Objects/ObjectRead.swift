package import NIOCore

/// How to read an object.
package struct ObjectRead: Sendable {
    /// The bytes to read, or nil for the whole object.
    package var range: ObjectRange?
    /// An ETag with its quotes. The object is sent only if its ETag differs.
    package var ifNoneMatch: String?
    /// A `Last-Modified` as received. The object is only sent if it was modified later. Ignored by stores if
    /// ``ifNoneMatch`` is given (RFC 9110 §13.1.3).
    package var ifModifiedSince: String?
    /// The largest number of bytes to receive.
    package var maxBytes: Int

    /// An unconditional read of a whole object.
    package init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    var isConditional: Bool { ifNoneMatch != nil || ifModifiedSince != nil }
}

/// A part of an object (RFC 9110 §14.1.2).
package enum ObjectRange: Hashable, Sendable {
    /// The bytes from one offset to another, both included. Ends early at the object's end.
    case bytes(ClosedRange<Int>)
    /// The bytes from an offset on.
    case from(Int)
    /// The last bytes.
    case last(Int)

    /// The value of `Range`.
    var field: String {
        switch self {
        case .bytes(let range): "bytes=\(range.lowerBound)-\(range.upperBound)"
        case .from(let offset): "bytes=\(offset)-"
        case .last(let count): "bytes=-\(count)"
        }
    }
}

/// What arrives while an object is read, in order.
package enum ObjectPart: Sendable {
    /// The attributes, once, before all bytes.
    case attributes(ObjectAttributes)
    /// The next bytes, at least one.
    case bytes(ByteBuffer)
}

/// The end of a conditional read.
package enum ObjectReadResult: Sendable {
    /// The whole object, or the part that was asked for, was delivered.
    case delivered(ObjectAttributes)
    /// The object matches the conditions (304). Nothing was delivered.
    case notModified(ObjectAttributes)
}

/// An object in memory.
package struct StoredObject: Sendable {
    /// What the store says about it.
    package let attributes: ObjectAttributes
    /// Its bytes, or the part that was asked for.
    package let body: ByteBuffer
}
