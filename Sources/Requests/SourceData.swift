package import DarkroomMachine
package import DarkroomNetwork

/// The bytes of a source that came with the request, instead of from an origin.
///
/// A class, because requests are copied often and few of them have bytes.
public final class SourceData: Sendable {
    package let content: SharedBytes
    /// The name of the source, made from the hash of its bytes: equal bytes are the same source.
    package let address: SourceURL
    /// Lives as long as the bytes, such as their count among the bytes in flight.
    package let hold: (any AnyObject & Sendable)?

    package init(_ content: SharedBytes, address: SourceURL, hold: (any AnyObject & Sendable)?) {
        self.content = content
        self.address = address
        self.hold = hold
    }

    /// The number of bytes.
    public var count: Int { content.count }
}
