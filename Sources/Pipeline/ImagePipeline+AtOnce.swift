import DarkroomCache
import Synchronization

/// A request whose chain and keys were derived once, to look its image up in the caches again and again.
package final class ImageLookup: Sendable {
    fileprivate let request: ResolvedRequest
    /// The request with the mark that was current at the last call; nil without a mark.
    fileprivate let marked = Mutex<ResolvedRequest?>(nil)

    fileprivate init(_ request: ResolvedRequest) {
        self.request = request
    }
}

extension ImagePipeline {
    /// Derives the keys of a request.
    package func lookup(for request: ImageRequest) -> ImageLookup { ImageLookup(resolve(request)) }

    /// The image, if all that it takes is in memory, or in files that the system has in memory, and may be used without
    /// contact to the origin. Never waits.
    ///
    /// What is stored, purged and fresh is judged at each call. The chain and the key of the source are those of the
    /// moment when the lookup was made.
    package func imageAtOnce(_ lookup: ImageLookup) -> ImageResponse? {
        if resolver.cache.isBehind { return nil }
        guard lookup.request.input.mark == nil else { return markedImageAtOnce(lookup) }
        return resolver.imageAtOnce(for: lookup.request)
    }

    /// The image with its mark, if both may be used without contact to an origin.
    private func markedImageAtOnce(_ lookup: ImageLookup) -> ImageResponse? {
        let last = lookup.marked.withLock(\.self) ?? lookup.request
        guard let asked = last.mark?.request ?? markRequest(of: last.input, last.urgency),
            let mark = resolver.markAtHand(for: asked)
        else { return nil }
        var request = last
        if last.mark?.record !== mark.record {
            if last.mark?.record.content != mark.record.content { request = resolve(last.input, mark: mark) }
            request.mark = mark
            lookup.marked.withLock { [request] in $0 = request }
        }
        return resolver.imageAtOnce(for: request)?.showing(mark, now: resolver.now())
    }
}

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
