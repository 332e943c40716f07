import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms

/// A request together with everything derived from it once: its chain, its keys and the purge epoch it started in.
///
/// Every step takes this value, so that no step derives a key of its own, and nothing that was made before a purge is
/// stored after it.
struct ResolvedRequest: Sendable {
    /// The request as the caller made it.
    var input: ImageRequest
    let chain: TransformChain
    private(set) var keys: RequestKeys
    /// The keys of the document that holds the placeholders; nil if the request asks for none.
    private(set) var placeholderKeys: RequestKeys?
    /// The keys of the image in the interim output; nil if the request waits for its own output.
    private(set) var interimKeys: RequestKeys?
    /// The source's purge epoch when the request started. Results are stored only if it is still current.
    var epoch: PurgeEpoch
    var urgency: Urgency
    /// When the request's waits end; nil if something else ends them.
    var deadline: Deadline?
    /// Reports downloads to the request's ``ImageTask``; nil if there is none.
    var reporter: ImageTaskReporter?
    /// The mark that the chain draws; nil if there is none, or if nothing is known of it yet.
    var mark: ResolvedMark?
    /// Whether the response keeps the source's bytes.
    var keepsOriginal = KeepsOriginal.never

    /// When a response keeps the source's bytes.
    enum KeepsOriginal {
        case never
        /// If they are at hand.
        case ifAtHand
        /// In any case: they are fetched if no cache has them.
        case always
    }

    /// Whether the chain draws a mark of which nothing is known yet. The keys are not those of the variant then.
    var lacksMark: Bool { input.mark != nil && mark == nil }

    /// The request as the caches see it.
    var access: CacheAccess {
        CacheAccess(
            keys: keys, source: input.source, pages: input.pages, options: input.cache, epoch: epoch,
            deadline: deadline)
    }

    var source: SourceURL { input.source }
    var cache: CacheOptions { input.cache }

    /// Whether the client forces a request to the origin, even if an earlier failure is remembered.
    var forcesOrigin: Bool {
        let policy = input.cache.policy
        if policy.mode.forcesOriginRequest { return true }
        return policy.allowsForcedRefresh && (policy.directives.noCache || policy.directives.maxAge == .zero)
    }

    /// Whether the request is answered without placeholders if it fails like this with them.
    func mayDropPlaceholders(after error: PipelineError) -> Bool {
        placeholderKeys != nil && !forcesOrigin && error != .cancelled
    }

    /// The request for the document that holds this image's placeholders: the same content through the same chain.
    /// Nil if the request asks for none.
    var placeholderRequest: ResolvedRequest? {
        guard let placeholderKeys else { return nil }
        var request = withoutPlaceholders
        request.input.output = input.placeholderOutput
        request.keys = placeholderKeys
        return request
    }

    var withoutPlaceholders: ResolvedRequest {
        var request = self
        request.input.placeholders = []
        request.placeholderKeys = nil
        return request
    }

    /// The request for the same image in the interim output. Nil if the request waits for its own output.
    var interimRequest: ResolvedRequest? {
        guard let interimKeys, let interim = input.interim else { return nil }
        var request = withoutInterim
        request.input.output = interim
        request.keys = interimKeys
        return request
    }

    /// The same request, waiting for its own output.
    var withoutInterim: ResolvedRequest {
        var request = self
        request.input.interim = nil
        request.interimKeys = nil
        return request
    }

    /// The same request as background work, without a client.
    var inBackground: ResolvedRequest {
        var request = self
        request.input.priority = .background
        request.input.cache.policy = RequestCachePolicy()
        request.input.cache.waitsForDisk = false
        request.urgency = Urgency(.background)
        request.deadline = nil
        request.reporter = nil
        request.keepsOriginal = .never
        return request
    }
}

extension ImageRequest {
    /// The output options of the placeholders' document. They depend on nothing else in the output, so that images of
    /// different formats and qualities share it.
    var placeholderOutput: OutputOptions {
        OutputOptions(format: .json, details: placeholders.intersection([.color, .blurHash, .thumbHash, .lqip]))
    }
}

extension RequestKeys {
    /// - Parameters:
    ///   - identity: the source's identity, as the filter returns it.
    ///   - epoch: the encoders' version, since another encoder makes other bytes.
    init(_ request: ImageRequest, chain: TransformChain, identity: String, epoch: String) {
        let source = Self.source(identity)
        self.init(
            source: source, variant: Self.variant(of: source, request, output: request.output, chain, epoch: epoch))
    }

    /// The keys of the same image in another output.
    func with(output: OutputOptions, of request: ImageRequest, chain: TransformChain, epoch: String) -> RequestKeys {
        with(variant: Self.variant(of: source, request, output: output, chain, epoch: epoch))
    }

    private static func variant(
        of source: StoreKey, _ request: ImageRequest, output: OutputOptions, _ chain: TransformChain, epoch: String
    ) -> StoreKey {
        var parts = KeyParts("variant")
        parts.append(source)
        parts.append(count: request.pages.first)
        // The number of pages does not matter if the output holds only one frame.
        parts.append(count: output.mayHoldSeveralFrames ? request.pages.count ?? 0 : 1)
        parts.append(output.key)
        parts.append(epoch)
        parts.append(chain.key)
        parts.append(request.versions)
        return parts.key
    }
}
