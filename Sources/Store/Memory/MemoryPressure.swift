/// How short of memory this process is, as Linux tells it; elsewhere nothing is told and there is no pressure.
///
/// Caches that shrink in time are the alternative to the kernel's out-of-memory killer, which takes the whole process.
/// What is read and when it counts as pressure stand at ``Reading`` and ``Reading/level(after:)``.
public struct MemoryPressure: Sendable {
    private let files: KernelFiles

    /// The pressure on this process. A test gives a folder of its own as the `root` that `/proc` and `/sys` lie in.
    public init(root: String = "") {
        files = KernelFiles(root: root)
    }

    /// What the process may use at most, in bytes: its control group's limit, else the machine's memory; 4 GiB where nobody
    /// tells.
    public var usableBytes: Int {
        let reading = reading()
        return reading.used?.ofBytes ?? reading.available?.ofBytes ?? 4 << 30
    }

    /// What the kernel says now. Reads some ten small files anew each time, in a millisecond or two; what is missing or
    /// can't be understood is nil in the reading.
    public func reading() -> Reading {
        let machine = files.machineMemory()
        return Reading(
            used: files.tightestGroup(machineBytes: machine?.totalBytes),
            available: machine.map { Amount(bytes: $0.availableBytes, ofBytes: $0.totalBytes) },
            stalledShare: files.stalledShare())
    }
}

extension MemoryPressure {
    /// Whether it's time to give memory back.
    public enum Level: Hashable, Sendable {
        /// There is memory enough, or nobody can tell.
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

    /// What the kernel said about memory at one moment.
    public struct Reading: Equatable, Sendable {
        /// What the process's control group uses of its limit, file cache not counted: that the kernel takes back before it
        /// kills. Of nested groups the one nearest to its limit (`memory.max` or `memory.high` in version 2,
        /// `memory.limit_in_bytes` in version 1); nil without a limit below the machine's memory.
        public var used: Amount?
        /// What the machine can still give without swapping (`MemAvailable` of `/proc/meminfo`).
        public var available: Amount?
        /// The share of the last ten seconds, 0 to 1, in which some task waited for memory (`some avg10` of the group's
        /// `memory.pressure`, or of `/proc/pressure/memory`).
        public var stalledShare: Double?

        /// The level that follows the one before. Pressure begins at 90 % of the group's limit, at 10 % of the time
        /// stalled or, without a limit, when less than 5 % of the machine's memory is available. It ends once all three
        /// are well away from there: below 80 %, below 5 % and at 10 % or more.
        public func level(after previous: Level) -> Level {
            let bounds = previous == .none ? Bounds.entering : Bounds.leaving
            if let stalledShare, stalledShare >= bounds.stalledShare { return .high }
            return isShort(bounds) ? .high : .none
        }

        /// Whether the amounts alone are where pressure begins. They tell at once what a purge has freed; stalls are told of
        /// for ten seconds after they are over.
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
