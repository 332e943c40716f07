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
