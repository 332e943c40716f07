/// The time that each stage of processing an image took.
public struct ProcessingStages: Hashable, Codable, Sendable {
    /// Decoding every row; nil if the pixels came from the cache of decoded images.
    public var decode: Duration?
    /// Running the chain on the decoded pixels; nil for a text, where the chain runs while it is described.
    public var transform: Duration?
    /// Encoding, or describing the image as text.
    public var encode: Duration

    /// Creates stages.
    public init(decode: Duration? = nil, transform: Duration? = nil, encode: Duration = .zero) {
        self.decode = decode
        self.transform = transform
        self.encode = encode
    }
}

/// Measures the stages of a job one after the other.
struct StageTimer {
    private(set) var stages = ProcessingStages()
    private var stopwatch = Stopwatch()

    /// - Parameter isCached: whether the pixels came from the cache, so that nothing was decoded.
    mutating func finishDecoding(isCached: Bool) {
        let duration = stopwatch.lap()
        if !isCached { stages.decode = duration }
    }

    mutating func finishTransforming() { stages.transform = stopwatch.lap() }

    mutating func finishEncoding() { stages.encode = stopwatch.lap() }
}

/// Measures consecutive intervals.
package struct Stopwatch {
    private var last = ContinuousClock.now

    package init() {}

    /// Returns the time since the last lap, or since creation.
    package mutating func lap() -> Duration {
        let now = ContinuousClock.now
        defer { last = now }
        return last.duration(to: now)
    }
}
