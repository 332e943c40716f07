/// The trade-off between speed and quality when pixels are resampled.
public enum Resampling: String, Codable, Sendable, CaseIterable {
    /// The decoder delivers at least 1.3 times the target size on each side: with less, edges become uneven.
    case fast
    /// The decoder delivers at least twice the target size on each side.
    case accurate
    /// Like `accurate`, but resampled in linear light.
    case linear

    /// How many times the target size the decoder delivers at least on each side.
    public var headroom: Double { self == .fast ? 1.3 : 2 }
}
