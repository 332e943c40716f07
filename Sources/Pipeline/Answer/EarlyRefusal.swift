import DarkroomStore
import Foundation

/// Refusals before anything is started for a request: under overload, the cheaper they are, the more images are made.
extension ImagePipeline {
    /// Whether requests may be refused at the moment.
    package var mayRefuse: Bool {
        resolver.producer.pixels.queue.mayRefuse(within: configuration.requestTimeout)
    }

    /// The error of a request of whose source nothing is known, and for which the pixel queue has no room. Never waits.
    /// Nil means that ``image(for:)`` has to decide.
    ///
    /// - Parameter isAdmitted: asked last, once the request would be refused; if false, it is not refused here.
    package func refusal(of request: ImageRequest, isAdmitted: () -> Bool) -> PipelineError? {
        guard let refusal = resolver.earlyRefusal(of: resolve(request)), isAdmitted() else { return nil }
        return resolver.producer.pixels.queue.refuse(refusal)
    }

    /// The error of a request whose source has not been received yet, if the pixel queue has no room for it. Never
    /// waits. Nil means that ``image(for:)`` has to decide, as for a request that a cache may answer.
    package func refusalOfUpload(_ request: ImageRequest) -> PipelineError? {
        guard request.cache.store.variants.isEmpty, mayRefuse else { return nil }
        let queue = resolver.producer.pixels.queue
        let urgency = Urgency(
            request.priority, client: request.client, deadline: .now + configuration.requestTimeout)
        return queue.refusal(of: urgency).map { queue.refuse($0) }
    }
}

extension ImageResolver {
    /// Why a request would be refused that no cache can answer and that starts a fetch.
    fileprivate func earlyRefusal(of request: ResolvedRequest) -> Admission.Refusal? {
        guard caches.recordAtHand(for: request) == nil, isAbsentFromDisk(request), !mayBeShared(request) else {
            return nil
        }
        var resolution = Resolution(stored: nil, isSelected: true, demands: request.demands, now: now())
        if case .lookUp(.originFailure) = resolution.next().step {
            resolution.record(failures.peek(request, now: now()), of: .originFailure)
        }
        guard case .fetch(let mode, _) = resolution.next().step else { return nil }
        return fetcher.refusal(of: request, mode)
    }

    /// The shared tier may have the image, which costs no pixel work then.
    private func mayBeShared(_ request: ResolvedRequest) -> Bool {
        caches.shared != nil && request.cache.query.union.contains(.shared)
    }

    private func isAbsentFromDisk(_ request: ResolvedRequest) -> Bool {
        guard let disk = caches.disk, request.cache.query.union.contains(.disk) else { return true }
        return disk.isAbsent(request.keys.record)
    }
}
