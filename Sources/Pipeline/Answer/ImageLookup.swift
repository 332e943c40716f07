/// A request whose chain and keys were derived once, to look its image up in the caches again and again.
package final class ImageLookup: Sendable {
    fileprivate let request: ResolvedRequest

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
        if let image = resolver.imageInMemory(for: lookup.request) { return image }
        var request = lookup.request
        request.epoch = resolver.caches.epochs.current(of: request.keys.source)
        return resolver.imageOnDiskAtOnce(for: request)
    }
}
