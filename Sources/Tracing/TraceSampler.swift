import Synchronization

/// Decides at the head of a request whether its spans are recorded.
///
/// A decision takes no random number from the system: most requests are not recorded and should cost nothing.
package final class TraceSampler: Sendable {
    /// The share of requests that are recorded, 0 to 1.
    package let ratio: Double
    /// The state of a SplitMix64 generator.
    private let position: Atomic<UInt64>

    /// - Parameter seed: where the sequence of decisions starts; random by default.
    package init(ratio: Double, seed: UInt64 = .random(in: 0...UInt64.max)) {
        self.ratio = ratio
        position = Atomic(seed)
    }

    /// Whether a request is recorded.
    ///
    /// A parent that is not sampled is followed. One that is sampled is followed if it is trusted; otherwise it is
    /// recorded as often as a request without a parent, so that clients cannot have each of their requests recorded.
    ///
    /// - Parameters:
    ///   - parent: the parent that the client sent; nil if there is none.
    ///   - isTrusted: whether it comes from a trusted proxy.
    package func samples(_ parent: TraceParent?, isTrusted: Bool) -> Bool {
        guard let parent else { return draws() }
        return parent.isSampled && (isTrusted || draws())
    }

    private func draws() -> Bool {
        if ratio >= 1 { return true }
        guard ratio > 0 else { return false }
        var number = position.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31 < UInt64(ratio * 0x1p64)
    }
}
