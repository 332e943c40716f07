/// What becomes of a source of which parts cannot be decoded.
public enum DamagePolicy: String, Codable, Sendable, CaseIterable {
    /// It is `.corrupt`.
    case refuse
    /// What can be decoded is shown; the rest is gray, black or transparent. The result is never proven.
    case show
}
