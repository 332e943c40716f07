/// A set of image formats that a result can have.
public struct FormatSet: OptionSet, Hashable, Codable, Sendable {
    /// One bit for each image format.
    public let rawValue: UInt16

    /// The formats of these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The set of one format; empty for a text.
    public init(_ format: OutputFormat) {
        self.init(rawValue: OutputFormat.images.firstIndex(of: format).map { 1 << UInt16($0) } ?? 0)
    }

    public func contains(_ format: OutputFormat) -> Bool { !isDisjoint(with: FormatSet(format)) }
}
