import DarkroomTransforms
import Foundation

/// The first message to a zygote.
struct WorkerSetup: WireValue {
    static let blank = WorkerSetup(
        parent: 0, isIsolated: true, decodedBytes: 0, maxDecodedEntryBytes: 0, memoryBytes: 0, maxResultBytes: 0)

    /// The server's process id.
    var parent: Int
    /// Whether workers enter the sandbox.
    var isIsolated: Bool
    var decodedBytes: Int
    var maxDecodedEntryBytes: Int
    var memoryBytes: Int
    var maxResultBytes: Int

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&parent)
        try coder.code(&isIsolated)
        try coder.code(&decodedBytes)
        try coder.code(&maxDecodedEntryBytes)
        try coder.code(&memoryBytes)
        try coder.code(&maxResultBytes)
    }
}

/// A request to a zygote to fork a worker, whose end of its socket is attached; and the reply to it.
struct WorkerFork: WireValue {
    static let blank = WorkerFork(process: 0)

    /// In the reply, the process id of the worker, or a negative `errno`. In the first message from a zygote, which
    /// reports that it is ready, and in requests: 0.
    var process: Int
    /// The most names in ``threads``.
    static let maxThreads = 16
    /// In a reply with `-EBUSY`, the names of the threads that kept the zygote from forking.
    var threads: [String] = []

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&process)
        try coder.code(&threads, maxCount: Self.maxThreads)
    }
}

extension WorkerFork {
    /// The process id in a reply. Throws the reason if there is no worker.
    func worker() throws(WorkerStartError) -> pid_t {
        let number = pid_t(truncatingIfNeeded: process)
        guard number <= 0 else { return number }
        guard number == -EBUSY else { throw .failed("the zygote could not fork: \(WireError.system(-number))") }
        let names = threads.map { "'\($0)'" }.joined(separator: ", ")
        throw .failed("the zygote could not fork: a library has started threads in it that do not end: \(names)")
    }
}

/// The first message from a worker, sent when it is ready.
struct WorkerHello: WireValue {
    static let blank = WorkerHello(layers: [])

    /// The sandbox layers in force.
    var layers: [IsolationLayer]

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        let given = layers
        layers = []
        for layer in IsolationLayer.allCases {
            var isInForce = given.contains(layer)
            try coder.code(&isInForce)
            if isInForce { layers.append(layer) }
        }
    }
}

/// A request to a worker. Every request except `cancel`, `drop` and `mark` has one reply, in order.
enum WorkerRequest: WireValue, Equatable {
    /// Keeps the attached bytes as the mark of the next `plan` or `process`.
    case mark
    /// Reads the header of the attached source and keeps both for `go`, until the next job or `drop`.
    case plan(WireJob)
    /// Processes the job that was planned last.
    case go
    /// Releases the job that was planned last.
    case drop
    /// Processes the attached source.
    case process(WireJob)
    case removeDecoded(identity: String)
    case shrink(fraction: Double)
    /// Cancels the running job. A busy worker treats any message as this one.
    case cancel
    /// Tries operations that the sandbox must forbid, for tests. Resources are not released, so the worker must be
    /// discarded.
    case probe

    static let blank = WorkerRequest.cancel

    private enum Kind: CaseIterable { case plan, go, drop, process, removeDecoded, shrink, cancel, probe, mark }

    private var kind: Kind {
        switch self {
        case .mark: .mark
        case .plan: .plan
        case .go: .go
        case .drop: .drop
        case .process: .process
        case .removeDecoded: .removeDecoded
        case .shrink: .shrink
        case .cancel: .cancel
        case .probe: .probe
        }
    }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        var kind = kind
        try coder.code(choice: &kind)
        switch kind {
        case .mark: self = .mark
        case .plan: self = .plan(try coder.coded(job ?? .blank))
        case .go: self = .go
        case .drop: self = .drop
        case .process: self = .process(try coder.coded(job ?? .blank))
        case .removeDecoded: self = .removeDecoded(identity: try coder.coded(identity ?? ""))
        case .shrink: self = .shrink(fraction: try coder.coded(fraction ?? 0))
        case .cancel: self = .cancel
        case .probe: self = .probe
        }
    }

    private var job: WireJob? {
        switch self {
        case .plan(let job), .process(let job): job
        default: nil
        }
    }

    private var identity: String? {
        if case .removeDecoded(let identity) = self { identity } else { nil }
    }

    private var fraction: Double? {
        if case .shrink(let fraction) = self { fraction } else { nil }
    }
}
