/// A request whose chain and keys were derived once, to look up its image in memory again and again.
package final class MemoryLookup: Sendable {
    fileprivate let request: ResolvedRequest

    fileprivate init(_ request: ResolvedRequest) {
        self.request = request
    }
}

extension ImagePipeline {
    /// Derives the keys of a request.
    package func memoryLookup(for request: ImageRequest) -> MemoryLookup { MemoryLookup(resolve(request)) }

    /// The image, if all that it takes is in memory and may be used without contact to the origin. Never suspends.
    ///
    /// What is stored, purged and fresh is judged at each call. The chain and the key of the source are those of the
    /// moment when the lookup was made.
    package func image(at lookup: MemoryLookup) -> ImageResponse? { resolver.imageInMemory(for: lookup.request) }
}
