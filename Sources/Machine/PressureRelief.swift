public import Logging

/// Shrinks caches under memory pressure, before the out-of-memory killer ends the process: the memory warning of mobile
/// systems, for a server. Also returns freed memory to the system after a peak, which the allocator would keep.
public struct PressureRelief: Sendable {
    /// A cache that can release memory.
    public struct Cache: Sendable {
        /// The current size of the cache, in bytes.
        public var bytes: @Sendable () -> Int
        /// Evicts a part of the cache, which may fill up again afterward.
        public var shrink: @Sendable () -> Void

        /// A cache with a way to measure it and a way to shrink it.
        public init(bytes: @escaping @Sendable () -> Int, shrink: @escaping @Sendable () -> Void) {
            self.bytes = bytes
            self.shrink = shrink
        }
    }

    private let caches: [Cache]
    private let transient: Cache?
    private let pressure: MemoryPressure
    private let logger: Logger

    /// Relief by these caches, which shrink in this order. If the allocator keeps freed memory, the last cache must
    /// also return it to the kernel (`malloc_trim(3)`), or nothing is gained.
    ///
    /// - Parameter transient: memory that is freed elsewhere, such as unsent responses and connections. It shrinks,
    ///   to return freed memory to the kernel, once its bytes have fallen from a peak of 32 MiB or more. Default: none.
    public init(
        _ caches: [Cache], transient: Cache? = nil, pressure: MemoryPressure = MemoryPressure(), logger: Logger
    ) {
        self.caches = caches
        self.transient = transient
        self.pressure = pressure
        self.logger = logger
    }

    /// Reads the pressure at this interval until the task is canceled. Shrinks the caches when pressure begins, again
    /// at each reading that is above the threshold, and otherwise every 10 seconds until pressure ends. Logs the freed
    /// bytes, and the end of the pressure.
    public func run(every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) async {
        var watch = PressureWatch()
        var peak = PeakWatch()
        while !Task.isCancelled {
            do { try await clock.sleep(for: interval) } catch { return }
            if let transient, peak.isOver(at: transient.bytes()) { transient.shrink() }
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
        // Long pressure that shrinking doesn't help is logged once.
        if isRepeated && bytesAfter >= bytesBefore { return }
        var metadata = reading.metadata
        metadata["cache-bytes-before"] = "\(bytesBefore)"
        metadata["cache-bytes-after"] = "\(bytesAfter)"
        logger.warning("memory is short: caches shrunk", metadata: metadata)
    }

    private var totalBytes: Int { caches.reduce(0) { $0 + $1.bytes() } }
}

/// The decision when to shrink caches: when pressure begins, while memory is above the threshold, and then at intervals
/// in which the kernel's average of stalls can catch up with the freed memory.
struct PressureWatch {
    enum Step: Equatable {
        case rest, end
        case relieve(isRepeated: Bool)
    }

    static let pause = Duration.seconds(10)

    private var level = MemoryPressure.Level.none
    private var sinceRelief = Duration.zero

    /// The step for a reading, taken this long after the previous reading.
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

/// The decision when a peak is over: once the bytes were at most a quarter of it at two readings, so that the memory of
/// the last bytes has been freed too.
struct PeakWatch {
    static let minPeakBytes = 32 << 20

    private var peakBytes = 0
    private var wasLow = false

    mutating func isOver(at bytes: Int) -> Bool {
        peakBytes = max(peakBytes, bytes)
        let isLow = peakBytes >= Self.minPeakBytes && bytes <= peakBytes / 4
        defer { wasLow = isLow && !wasLow }
        guard isLow, wasLow else { return false }
        peakBytes = bytes
        return true
    }
}

extension MemoryPressure.Reading {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let used { metadata["group-used-bytes"] = "\(used.bytes)" }
        if let used { metadata["group-limit-bytes"] = "\(used.ofBytes)" }
        if let available { metadata["available-bytes"] = "\(available.bytes)" }
        if let stalledShare { metadata["stalled-share"] = "\(stalledShare)" }
        return metadata
    }
}

/// The memory pressure on this process, as Linux reports it. Other systems report no figures, and the pressure is
/// ``Level/none``.
///
/// Caches that shrink in time keep the kernel's out-of-memory killer away. ``Reading`` lists the figures, and
/// ``Reading/level(after:)`` the thresholds.
public struct MemoryPressure: Sendable {
    private let kernel: KernelMemory

    /// The pressure on this process.
    ///
    /// - Parameter root: the folder that contains `/proc` and `/sys`; tests pass a folder of their own.
    public init(root: String = "") {
        kernel = KernelMemory(files: KernelFiles(root: root))
    }

    /// The most that the process may use, in bytes: the lowest limit of its control groups, or the machine's memory.
    /// 4 GiB if the system reports neither.
    public var usableBytes: Int { kernel.usableBytes }

    /// Reads the current figures: about ten small files, in one to two milliseconds. A figure that is missing or
    /// malformed is nil.
    public func reading() -> Reading {
        let machine = kernel.machineMemory()
        return Reading(
            used: kernel.tightestGroup(machineBytes: machine?.totalBytes),
            available: machine.map { Amount(bytes: $0.availableBytes, ofBytes: $0.totalBytes) },
            stalledShare: kernel.stalledShare())
    }

    public enum Level: Hashable, Sendable {
        /// Memory is sufficient, or the system reports no figures.
        case none
        /// Caches should shrink now.
        case high
    }

    /// A part of some memory.
    public struct Amount: Equatable, Sendable {
        /// The part, in bytes.
        public var bytes: Int
        /// The whole, in bytes; above 0.
        public var ofBytes: Int

        var share: Double { Double(bytes) / Double(ofBytes) }
    }

    /// The kernel's figures about memory at one moment.
    public struct Reading: Equatable, Sendable {
        /// The use and the limit of the process's control group, without the file cache, which the kernel reclaims
        /// before it kills. Of nested groups, the group nearest to its limit (`memory.max` or `memory.high` in version
        /// 2, `memory.limit_in_bytes` in version 1). Nil without a limit below the machine's memory.
        public var used: Amount?
        /// The machine's memory that is available without swapping (`MemAvailable` of `/proc/meminfo`).
        public var available: Amount?
        /// The share of the last ten seconds, 0 to 1, in which some task waited for memory (`some avg10` of the group's
        /// `memory.pressure`, or of `/proc/pressure/memory`).
        public var stalledShare: Double?

        /// The level of this reading, with hysteresis. Pressure begins at 90 % of the group's limit, at 10 % of the
        /// time stalled or, without a limit, with less than 5 % of the machine's memory available. It ends below 80 %,
        /// below 5 % and at 10 % or more, respectively.
        public func level(after previous: Level) -> Level {
            let bounds = previous == .none ? Bounds.entering : Bounds.leaving
            if let stalledShare, stalledShare >= bounds.stalledShare { return .high }
            return isShort(bounds) ? .high : .none
        }

        /// Whether the amounts alone mean pressure. Unlike stalls, whose average lags by ten seconds, amounts show at
        /// once how much memory a purge has freed.
        var isShort: Bool { isShort(.entering) }

        private func isShort(_ bounds: Bounds) -> Bool {
            if let used { return used.share >= bounds.usedShare }
            return available.map { $0.share < bounds.availableShare } ?? false
        }
    }

    private struct Bounds {
        let usedShare: Double
        let stalledShare: Double
        let availableShare: Double

        static let entering = Bounds(usedShare: 0.9, stalledShare: 0.1, availableShare: 0.05)
        static let leaving = Bounds(usedShare: 0.8, stalledShare: 0.05, availableShare: 0.1)
    }
}
