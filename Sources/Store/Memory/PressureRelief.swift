public import Logging

/// Shrinks caches when memory runs short, before the kernel ends the process for it: AFNetworking's purge on a memory
/// warning, on a server.
public struct PressureRelief: Sendable {
    /// A cache that can give memory back.
    public struct Cache: Sendable {
        /// What the cache costs now, in bytes.
        public var bytes: @Sendable () -> Int
        /// Brings the cache down to a part of what it holds; it may fill up again afterwards.
        public var shrink: @Sendable () -> Void

        /// A cache of this cost that shrinks like this.
        public init(bytes: @escaping @Sendable () -> Int, shrink: @escaping @Sendable () -> Void) {
            self.bytes = bytes
            self.shrink = shrink
        }
    }

    private let caches: [Cache]
    private let pressure: MemoryPressure
    private let logger: Logger

    /// Relief by these caches, in their order. The last must also hand what was freed back to the kernel where the allocator
    /// keeps it (`malloc_trim(3)`), or nothing is won.
    public init(_ caches: [Cache], pressure: MemoryPressure = MemoryPressure(), logger: Logger) {
        self.caches = caches
        self.pressure = pressure
        self.logger = logger
    }

    /// Looks at the pressure at this interval until the task is cancelled, and shrinks the caches when it becomes high, again at
    /// each look while memory is as short as then, and else every 10 seconds until it is over. Logs what a purge freed, and when the pressure is over.
    public func run(every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) async {
        var watch = PressureWatch()
        while !Task.isCancelled {
            do { try await clock.sleep(for: interval) } catch { return }
            let reading = pressure.reading()
            switch watch.next(reading, after: interval) {
            case .rest: break
            case .relieve(let isRepeated): relieve(reading, isRepeated: isRepeated)
            case .end: logger.notice("memory is no longer short", metadata: reading.metadata)
            }
        }
    }

    private func relieve(_ reading: MemoryPressure.Reading, isRepeated: Bool) {
        let bytesBefore = totalBytes
        for cache in caches { cache.shrink() }
        let bytesAfter = totalBytes
        // A long pressure that we can do nothing about is told once.
        if isRepeated && bytesAfter >= bytesBefore { return }
        var metadata = reading.metadata
        metadata["cache-bytes-before"] = "\(bytesBefore)"
        metadata["cache-bytes-after"] = "\(bytesAfter)"
        logger.warning("memory is short: caches shrunk", metadata: metadata)
    }

    private var totalBytes: Int { caches.reduce(0) { $0 + $1.bytes() } }
}

/// When to act: as the pressure becomes high, for as long as memory is that short, and then with pauses as long as the kernel's
/// average takes to forget what the last purge has mended.
struct PressureWatch {
    /// What is to be done now.
    enum Step: Equatable {
        /// Nothing.
        case rest
        /// Give memory back, under a new pressure or once more.
        case relieve(isRepeated: Bool)
        /// Nothing more: the pressure is over.
        case end
    }

    static let pause = Duration.seconds(10)

    private var level = MemoryPressure.Level.none
    private var sinceRelief = Duration.zero

    /// What follows from a reading that was taken so long after the one before.
    mutating func next(_ reading: MemoryPressure.Reading, after elapsed: Duration) -> Step {
        let previous = level
        level = reading.level(after: previous)
        sinceRelief += elapsed
        switch (previous, level) {
        case (.none, .none): return .rest
        case (.high, .none): return .end
        case (.high, .high) where sinceRelief < Self.pause && !reading.isShort: return .rest
        case (_, .high):
            sinceRelief = .zero
            return .relieve(isRepeated: previous == .high)
        }
    }
}

extension MemoryPressure.Reading {
    /// The reading as a log line has it.
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let used { metadata["group-used-bytes"] = "\(used.bytes)" }
        if let used { metadata["group-limit-bytes"] = "\(used.ofBytes)" }
        if let available { metadata["available-bytes"] = "\(available.bytes)" }
        if let stalledShare { metadata["stalled-share"] = "\(stalledShare)" }
        return metadata
    }
}
