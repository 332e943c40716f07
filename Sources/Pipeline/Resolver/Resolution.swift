import DarkroomCache
import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomTransforms
import Foundation

/// The decision how a request is answered: a pure function from the known facts to the next step.
///
/// `ImageResolver` drives it: while the next step is to look up a fact, it finds that out and records it here. Facts
/// are looked up only when the decision depends on them, so a hit in memory costs one lookup of the record and one of
/// the variant.
///
/// ```
///  evaluate the record (RFC 9111 §4) ──▶ refuse ──────────────────────────────▶ fail
///    │ use                  │ ask
///    ▼                      ▼
///  variant? ─▶ use it     failure remembered? ─▶ yes ──▶ may the stale image be used (RFC 5861 §4)? ─▶ no ─▶ fail
///    │ no                   │ no                             │ yes
///    ▼                      ▼                                ▼
///  original? ─▶ produce   fetch ──▶ fails ────────────▶ variant? original? ─▶ neither ─▶ fail
///    │ no                   │
///    ▼                      ▼
///  fetch                  confirmed or delivered ─▶ variant? original? ─▶ neither ─▶ fetch the content
/// ```
struct Resolution: Sendable {
    /// A fact that the next step depends on.
    enum Fact: Hashable, Sendable {
        /// Whether the variant is stored, made from the known content.
        case variant
        /// Whether the variant in the interim output is stored, from the known content. Looked up if neither the
        /// variant nor the original is available.
        case interimVariant
        /// Whether the placeholders' document is stored, made from the known content.
        case placeholders
        /// Whether the bytes of the known content are available.
        case original
        /// Whether decoding the known content failed before.
        case decodingFailure
        /// Whether an earlier request to the origin failed, and is remembered.
        case originFailure
    }

    /// What to do next.
    enum Step: Hashable, Sendable {
        /// Look up a fact, record it, and request the next step.
        case lookUp(Fact)
        /// Answer with the stored variant.
        case useVariant
        /// Make the variant from the original.
        case produce
        /// Contact the origin, for this reason.
        case fetch(OriginFetch.Mode, CacheStatus.Reason)
        case fail(PipelineError)
    }

    /// A step and its reason.
    struct Decision: Hashable, Sendable {
        var step: Step
        /// The evaluation of the caches behind the step.
        var evaluation: CacheEvaluation
        /// The failure that makes a stale image acceptable, if that is why it is used.
        var staleBecause: PipelineError?
        /// Whether the origin is contacted in the background after the answer.
        var revalidatesInBackground = false
    }

    /// The known presence of a stored entry.
    private enum Presence { case unknown, absent, present }

    /// The origin's part in the request so far.
    private enum OriginState {
        case notContacted
        /// The origin confirmed the known content or delivered it again, after this number of fetches.
        case answered(fetches: Int)
        case failed(PipelineError, at: Date)
    }

    /// What the request accepts.
    struct Demands: Sendable {
        var policy: RequestCachePolicy
        /// Whether the origin is contacted although an earlier failure is remembered.
        var forcesOrigin = false
        var wantsPlaceholders = false
        /// Whether the source's bytes are needed, although the variant is stored.
        var wantsOriginal = false
        /// Whether the request has an interim output.
        var hasInterim = false
    }

    private let stored: Freshness?
    private let isSelected: Bool
    private let demands: Demands
    private let judgedAt: Date
    private let evaluation: CacheEvaluation
    private let isRevalidation: Bool
    private var origin = OriginState.notContacted
    private var variant = Presence.unknown
    private var interimVariant = Presence.unknown
    private var placeholders = Presence.unknown
    private var original = Presence.unknown
    /// An earlier failure: nil in the optional if there was none, nil if that is unknown.
    private var decodingFailure: PipelineError??
    private var originFailure: PipelineError??

    /// - Parameters:
    ///   - stored: the freshness of the source's record; nil if nothing is known of the source.
    ///   - isSelected: whether the record's `Vary` matches this request (RFC 9111 §4.1).
    ///   - isRevalidation: whether the origin is contacted although the record may be used.
    init(stored: Freshness?, isSelected: Bool, demands: Demands, isRevalidation: Bool = false, now: Date) {
        self.stored = stored
        self.isSelected = isSelected
        self.demands = demands
        self.isRevalidation = isRevalidation
        judgedAt = now
        evaluation = CacheEvaluation(stored: stored, isSelected: isSelected, policy: demands.policy, now: now)
    }

    /// Whether the stored record permits an answer without the origin, apart from failures.
    var mayUseStored: Bool { evaluation.decision == .use || evaluation.decision == .useAndRevalidate }

    // MARK: Facts

    /// Records whether an entry is available. A failure is recorded by `record(_:of:)`.
    mutating func record(_ fact: Fact, isPresent: Bool) {
        let presence = isPresent ? Presence.present : .absent
        switch fact {
        case .variant: variant = presence
        case .interimVariant: (interimVariant, variant) = (presence, presence)
        case .placeholders: placeholders = presence
        case .original: original = presence
        case .decodingFailure: decodingFailure = .some(nil)
        case .originFailure: originFailure = .some(nil)
        }
    }

    /// Records an earlier failure, or its absence.
    mutating func record(_ failure: PipelineError?, of fact: Fact) {
        if fact == .decodingFailure { decodingFailure = .some(failure) } else { originFailure = .some(failure) }
    }

    /// Records the origin's answer. From then on, the facts are about the record after the answer.
    ///
    /// - Parameters:
    ///   - isVerified: whether its content is known to decode, so that the caches may have entries made from it.
    ///   - hasContent: whether the answer brought the content.
    mutating func recordAnswer(isVerified: Bool, hasContent: Bool) {
        let earlier = if case .answered(let fetches) = origin { fetches } else { 0 }
        origin = .answered(fetches: earlier + 1)
        variant = isVerified ? .unknown : .absent
        interimVariant = variant
        decodingFailure = isVerified ? nil : .some(nil)
        placeholders = .unknown
        original = hasContent ? .present : .unknown
    }

    /// Records that a step failed. From here on, the facts are again about the record from before the fetch. They are
    /// looked up again, since the failure may have removed its entries.
    ///
    /// - Returns: false if the error is final, because the origin had no part in it.
    mutating func recordFailure(_ error: PipelineError, of step: Step, at now: Date) -> Bool {
        switch (origin, step) {
        case (.answered, _), (.notContacted, .fetch): break
        default: return false
        }
        origin = .failed(error, at: now)
        (variant, interimVariant, placeholders, original) = (.unknown, .unknown, .unknown, .unknown)
        decodingFailure = nil
        return true
    }

    // MARK: Decision

    /// The next step, as far as the recorded facts determine it.
    func next() -> Decision {
        switch origin {
        case .notContacted:
            if isRevalidation { return forward(.stale, evaluation) }
            switch evaluation.decision {
            case .use: return fromCaches(Decision(step: .useVariant, evaluation: evaluation)) ?? bytesGone
            case .useAndRevalidate:
                let decision = Decision(step: .useVariant, evaluation: evaluation, revalidatesInBackground: true)
                return fromCaches(decision) ?? bytesGone
            case .ask(let reason): return forward(reason, evaluation)
            case .refuse: return Decision(step: .fail(.notCached), evaluation: evaluation)
            }
        case .answered(let fetches):
            let step = fetches == 1 ? Step.fetch(.unconditional, .miss) : .fail(.failed)
            return fromCaches(Decision(step: .useVariant, evaluation: evaluation))
                ?? Decision(step: step, evaluation: evaluation)
        case .failed(let error, let now):
            return stale(because: error, at: now)
        }
    }

    /// The answer from stored entries. Nil if the necessary bytes are in no cache.
    private func fromCaches(_ decision: Decision) -> Decision? {
        var decision = decision
        switch variant {
        case .unknown: return lookUp(.variant)
        case .present:
            if demands.wantsPlaceholders, placeholders == .unknown { return lookUp(.placeholders) }
            let lacksPlaceholders = demands.wantsPlaceholders && placeholders == .absent
            guard lacksPlaceholders || demands.wantsOriginal else { return decision }
        case .absent:
            guard let decodingFailure else { return lookUp(.decodingFailure) }
            decision.step = decodingFailure.map(Step.fail) ?? .produce
            if decodingFailure != nil { return decision }
        }
        switch original {
        case .unknown: return lookUp(.original)
        case .present: return decision
        case .absent:
            guard demands.hasInterim, variant == .absent, interimVariant == .unknown else { return nil }
            return lookUp(.interimVariant)
        }
    }

    /// The record could be used, but no cache has the bytes any more.
    private var bytesGone: Decision {
        let evaluation = stored.map { CacheEvaluation.gone($0, policy: demands.policy) } ?? evaluation
        guard case .ask(let reason) = evaluation.decision else {
            return Decision(step: .fail(.notCached), evaluation: evaluation)
        }
        return forward(reason, evaluation)
    }

    private func forward(_ reason: CacheStatus.Reason, _ evaluation: CacheEvaluation) -> Decision {
        if !demands.forcesOrigin {
            guard let originFailure else { return lookUp(.originFailure) }
            if let originFailure { return stale(because: originFailure, at: judgedAt) }
        }
        return Decision(step: .fetch(mode(of: reason), reason), evaluation: evaluation)
    }

    private func mode(of reason: CacheStatus.Reason) -> OriginFetch.Mode {
        if demands.policy.mode.ignoresStored { return .reload }
        return stored == nil || reason == .varyMiss || reason == .miss ? .unconditional : .conditional
    }

    /// The stale image, if the failure and the origin permit it (RFC 5861 §4), else the failure.
    private func stale(because error: PipelineError, at now: Date) -> Decision {
        let failure = Decision(step: .fail(error), evaluation: evaluation)
        guard let stored, isSelected, error.permitsStale, !demands.policy.mode.ignoresStored,
            stored.allowsStaleOnError(at: now)
        else { return failure }
        let decision = Decision(step: .useVariant, evaluation: .staleIfError(stored), staleBecause: error)
        return fromCaches(decision) ?? failure
    }

    private func lookUp(_ fact: Fact) -> Decision { Decision(step: .lookUp(fact), evaluation: evaluation) }
}

extension ResolvedRequest {
    /// What the request accepts of the caches.
    var demands: Resolution.Demands {
        Resolution.Demands(
            policy: input.cache.policy, forcesOrigin: forcesOrigin, wantsPlaceholders: outputs[.placeholders] != nil,
            wantsOriginal: keepsOriginal == .always, hasInterim: outputs[.interim] != nil)
    }
}

/// One request on its way to an answer: the known facts, and the decision that follows from them. It is made once, and
/// keeps what it has learned from one question to the next.
struct Inquiry: Sendable {
    var request: ResolvedRequest
    let mode: LookMode
    var resolution: Resolution
    /// The known entries of the source: from the caches, later from the origin's answer.
    var look: CacheLook
    /// Whether the caches were asked for entries of the source.
    private(set) var hasLooked: Bool
    var variant: FoundVariant?
    /// The variant in the interim output, looked up if the requested output is not stored.
    var interim: FoundVariant?
    /// Whether `variant` is in the interim output.
    var isInterim = false
    /// The document that holds the placeholders.
    var placeholders: FoundVariant?
    var original: Original?
    var report = CacheReport()
    var stopwatch = Stopwatch()

    /// - Parameter look: what is known of the source; nil = it is looked up later.
    init(
        _ request: ResolvedRequest, _ look: CacheLook? = nil, _ mode: LookMode = .use, isRevalidation: Bool = false,
        now: Date
    ) {
        self.request = request
        self.look = look ?? CacheLook()
        self.mode = mode
        hasLooked = look != nil
        resolution = Resolution(
            stored: look?.record?.freshness, isSelected: true, demands: request.demands,
            isRevalidation: isRevalidation, now: now)
    }

    /// Continues with a later lookup. What was learned of the same record stays.
    mutating func take(_ look: CacheLook, now: Date) {
        let isSame = hasLooked && look.record === self.look.record
        (self.look, hasLooked) = (look, true)
        if !isSame { decideAnew(now: now) }
    }

    /// Decides on another record.
    ///
    /// - Parameter isSelected: whether the record's `Vary` matches the request (RFC 9111 §4.1).
    mutating func decideAnew(isSelected: Bool = true, now: Date) {
        restart(with: look)
        resolution = Resolution(
            stored: look.record?.freshness, isSelected: isSelected, demands: request.demands, now: now)
    }

    /// Discards the found entries, since they are of another record or a step failed.
    mutating func restart(with look: CacheLook) {
        self.look = look
        (variant, interim, isInterim, placeholders, original) = (nil, nil, false, nil, nil)
        report = CacheReport()
        stopwatch = Stopwatch()
    }
}
