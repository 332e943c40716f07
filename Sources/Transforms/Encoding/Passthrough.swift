/// Whether a source that no step changes may be the result, without metadata, where encoding it again saves nothing.
public enum Passthrough: String, Codable, Sendable, CaseIterable {
    /// Every result is encoded anew.
    case off
    /// A source in the format of the result is decoded and encoded as always. If that has not made it smaller, the
    /// result is the source's own pixel data.
    case auto
}
