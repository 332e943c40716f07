import DarkroomTransforms

/// A worker's reply to a request, followed by the body of an image that is not attached as sealed memory.
struct WorkerReply: WireValue {
    enum Outcome {
        case image(WireImage)
        case plan(ImagePlan)
        case failure(ImageProcessingError)
        case done
        case probes([ProbeResult])
    }

    static let blank = WorkerReply(outcome: .done, decoded: DecodedStatistics())

    var outcome: Outcome
    /// Statistics of the worker's cache of decoded images.
    var decoded: DecodedStatistics

    private enum Kind: CaseIterable { case image, plan, failure, done, probes }

    private var kind: Kind {
        switch outcome {
        case .image: .image
        case .plan: .plan
        case .failure: .failure
        case .done: .done
        case .probes: .probes
        }
    }

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&decoded)
        var kind = kind
        try coder.code(choice: &kind)
        switch kind {
        case .image: outcome = .image(try coder.coded(image ?? .blank))
        case .plan: outcome = .plan(try coder.coded(plan ?? .blank))
        case .failure: outcome = .failure(try coder.coded(failure ?? .blank))
        case .done: outcome = .done
        case .probes:
            var probes = probes ?? []
            try coder.code(&probes, maxCount: 64)
            outcome = .probes(probes)
        }
    }

    private var image: WireImage? {
        if case .image(let image) = outcome { image } else { nil }
    }

    private var plan: ImagePlan? {
        if case .plan(let plan) = outcome { plan } else { nil }
    }

    private var failure: ImageProcessingError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    private var probes: [ProbeResult]? {
        if case .probes(let probes) = outcome { probes } else { nil }
    }
}

/// The result of an operation that the sandbox must forbid.
struct ProbeResult: WireValue, Equatable {
    static let blank = ProbeResult(name: "", failure: 0)

    var name: String
    /// Its `errno`; 0 if the operation succeeded.
    var failure: Int

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&name)
        try coder.code(&failure)
    }
}

extension DecodedStatistics: WireValue {
    static let blank = DecodedStatistics()

    mutating func code(_ coder: inout WireCoder) throws(WireError) {
        try coder.code(&entries)
        try coder.code(&bytes)
        try coder.code(&hits)
        try coder.code(&misses)
    }

    /// Whether sums of such numbers fit in an `Int`.
    var isPlausible: Bool { [entries, bytes, hits, misses].allSatisfy((0...1 << 40).contains) }
}
