import Hummingbird

extension Request {
    /// Longer targets are refused before they are read: a source URL of the greatest length fits in, all of it encoded.
    private static let maxTargetBytes = 32 * 1024

    func requireReadableTarget() throws(Problem) {
        guard uri.string.utf8.count <= Self.maxTargetBytes else {
            throw .targetTooLong(maxBytes: Self.maxTargetBytes)
        }
    }
}
