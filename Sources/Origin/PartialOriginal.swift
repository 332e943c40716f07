public import NIOCore

/// The beginning of an original while the rest is on its way. It proves nothing: it is fit for looking at, never for keeping.
public struct PartialOriginal: Sendable {
    /// The bytes that have come in so far. Lend them a look; who keeps them makes the download copy them once.
    public var body: ByteBuffer
    /// How many bytes the origin has announced in all, 1 or more; nil = it has not said.
    public var expectedBytes: Int?

    /// So much of an original, as a fetcher reports it.
    public init(body: ByteBuffer, expectedBytes: Int?) {
        self.body = body
        self.expectedBytes = expectedBytes
    }
}
