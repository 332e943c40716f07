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
        if let follower, follower.isBehind { return nil }
        guard lookup.request.input.mark == nil else { return markedImageAtOnce(lookup) }
        if let image = resolver.imageInMemory(for: lookup.request) { return image }
        return imageOnDiskAtOnce(lookup.request)
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
        guard let image = resolver.imageInMemory(for: request) ?? imageOnDiskAtOnce(request) else { return nil }
        return image.showing(mark, now: resolver.now())
    }

    private func imageOnDiskAtOnce(_ request: ResolvedRequest) -> ImageResponse? {
        var request = request
        request.epoch = resolver.caches.epochs.current(of: request.keys.source)
        return resolver.imageOnDiskAtOnce(for: request)
    }
}
