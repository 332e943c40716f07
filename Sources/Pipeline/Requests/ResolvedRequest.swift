import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Synchronization

/// A request together with everything derived from it once: its chain, its keys and the purge epoch it started in.
///
/// Every step takes this value, so that no step derives a key of its own, and no image from before a purge is stored
/// after it.
struct ResolvedRequest: Sendable {
    /// The request as the caches see it.
    var access: CacheAccess
    let chain: TransformChain
    /// The keys of the companions that are other outputs of the same image.
    var outputs: [Companion: RequestKeys] = [:]
    var urgency: Urgency
    var observer: (any DownloadObserver)?
    /// The images that the chain draws; nil while the content of one is unknown.
    var parts: ResolvedParts?
    /// See `ImageJob.webPBytes`.
    var webPBytes: Int?
    /// Whether the response keeps the source's bytes.
    var keepsOriginal = KeepsOriginal.never

    init(
        input: ImageRequest, chain: TransformChain, keys: RequestKeys, epoch: PurgeEpoch, urgency: Urgency,
        observer: (any DownloadObserver)? = nil, parts: ResolvedParts? = nil
    ) {
        access = CacheAccess(input, keys: keys, epoch: epoch)
        (self.chain, self.urgency, self.observer, self.parts) = (chain, urgency, observer, parts)
    }

    /// When a response keeps the source's bytes.
    enum KeepsOriginal {
        case never
        /// Only if they are available.
        case ifAvailable
        /// In any case: they are fetched if no cache has them.
        case always
    }

    /// The request of the caller.
    var input: ImageRequest {
        get { access.request.input }
        set { access.request = SharedRequest(newValue) }
    }
    var keys: RequestKeys { access.keys }
    var source: SourceURL { access.request.input.source }
    var cache: CacheOptions { access.request.input.cache }

    /// Whether the chain draws an image whose content is unknown. The keys then do not name the variant.
    var lacksParts: Bool { parts == nil && !access.request.input.parts.isEmpty }

    /// Whether the client forces a request to the origin, even if an earlier failure is remembered.
    var forcesOrigin: Bool {
        let policy = input.cache.policy
        if policy.mode.forcesOriginRequest { return true }
        return policy.allowsForcedRefresh && (policy.directives.noCache || policy.directives.maxAge == .zero)
    }

    /// Whether the request is answered without placeholders if it fails like this with them.
    func mayDropPlaceholders(after error: PipelineError) -> Bool {
        outputs[.placeholders] != nil && !forcesOrigin && error != .cancelled
    }

    /// The request for a companion that is another output of the same image; nil if the request has none.
    func companion(_ companion: Companion) -> ResolvedRequest? {
        guard let keys = outputs[companion], let input = input.companion(companion) else { return nil }
        var request = without(companion)
        (request.input, request.access.keys) = (input, keys)
        return request
    }

    /// The same request without a companion that is another output of the same image.
    func without(_ companion: Companion) -> ResolvedRequest {
        var request = self
        if companion == .interim { request.input.interim = nil } else { request.input.placeholders = [] }
        request.outputs[companion] = nil
        return request
    }

    /// The same request as background work, without a client.
    var inBackground: ResolvedRequest {
        var request = self
        request.input.priority = .background
        request.input.cache.policy = RequestCachePolicy()
        request.input.cache.waitsForDisk = false
        request.urgency = Urgency(.background)
        request.access.deadline = nil
        request.observer = nil
        request.keepsOriginal = .never
        return request
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
        let pages = request.pages.shown(in: output)
        parts.append(count: pages.first)
        parts.append(count: pages.count ?? 0)
        parts.append(count: (pages.isThinned ? 1 : 0) + (pages.mayBeFewer ? 2 : 0))
        parts.append(output.key)
        parts.append(epoch)
        parts.append(chain.key)
        parts.append(request.versions)
        return parts.key
    }
}

/// The chains of the recipes that were asked for last: sites ask for many images by few recipes, and finding a chain
/// takes a tenth of the time of making it.
final class RecentChains: Sendable {
    private static let maxChains = 16

    private let limits: PixelLimits
    /// The latest first.
    private let chains = Mutex<[TransformChain]>([])

    /// - Parameter limits: see ``TransformChain/init(_:limits:)``.
    init(limits: PixelLimits) { self.limits = limits }

    func chain(_ recipe: Recipe) -> TransformChain {
        // Texts of other bytes may be equal in Unicode, but not as drawn.
        guard !recipe.drawsText else { return TransformChain(recipe, limits: limits) }
        if let known = chains.withLock({ $0.first { $0.recipe == recipe } }) { return known }
        let chain = TransformChain(recipe, limits: limits)
        chains.withLock { chains in
            if chains.count == Self.maxChains { chains.removeLast() }
            chains.insert(chain, at: 0)
        }
        return chain
    }
}

extension Recipe {
    fileprivate var drawsText: Bool {
        text != nil || layers.contains { if case .text = $0.content { true } else { false } }
    }
}

// Answers that need other requests; see ``Companion``. Interim outputs and placeholders are part of the decision about
// the image, and ``ImageResolver`` composes them. Drawn images and fallbacks are other sources.
extension ImagePipeline {
    /// The image of a request, with the images that it draws, or of its fallback.
    ///
    /// The drawn images come first: if one fails, so does the request, unless it may be left out or replaced, and no
    /// fallback is used. If one has changed by the time it is drawn, the request starts over, once.
    func composedImage(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        let request = inquiry.request
        var own = inquiry
        if request.lacksParts { own = resolver.fresh(try await withParts(request)) }
        do throws(PipelineError) {
            return showingParts(try await imageOrFallback(own), own.request)
        } catch {
            guard let parts = own.request.parts, parts.found.contains(where: resolver.hasChanged) else { throw error }
            let again = try await withParts(request)
            return showingParts(try await imageOrFallback(resolver.fresh(again)), again)
        }
    }

    private func imageOrFallback(_ inquiry: Inquiry) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            return try await resolver.image(inquiry)
        } catch {
            let request = inquiry.request
            let input = request.input
            guard error.permitsFallback(for: input.fallbackStatuses), let fallback = input.companion(.fallback) else {
                throw error
            }
            do throws(PipelineError) {
                try requireAllowedSources(of: fallback)
                var resolved = resolve(fallback, observer: request.observer, parts: request.parts)
                resolved.access.deadline = request.access.deadline
                resolved.keepsOriginal = request.keepsOriginal
                var response = try await resolver.image(for: resolved)
                response.fallbackReason = error
                response.failedSources.append(request.source)
                return response
            } catch let failure {
                // A fallback that may never be used reports its own error.
                throw failure.statusOfSource == nil ? failure : error
            }
        }
    }

    /// A response to a request, limited by the images that the request draws.
    func showingParts(_ response: ImageResponse, _ request: ResolvedRequest) -> ImageResponse {
        request.parts.map { response.showing($0, now: resolver.now()) } ?? response
    }

    // MARK: Keys

    /// - Parameter parts: the images that the request draws; nil = the images as the memory tier has them.
    func resolve(
        _ request: ImageRequest, observer: (any DownloadObserver)? = nil, parts: ResolvedParts? = nil
    ) -> ResolvedRequest {
        let urgency = Urgency(request.priority, client: request.client, deadline: .now + configuration.requestTimeout)
        let parts = parts ?? partsAtOnce(of: request, urgency)
        var request = request.drawing(parts)
        if !request.cache.policy.allowsStoring { request.cache.store = .none }
        if request.data != nil { request.cache = request.cache.ofData }
        if configuration.aiLabel != .none { request.recipe.aiLabel = configuration.aiLabel }
        let chain = delegate.transforms(chains.chain(request.recipe), for: request)
        let identity = keyFilter.identity(of: request.source)
        let keys = RequestKeys(request, chain: chain, identity: identity, epoch: encoderEpoch)
        var resolved = ResolvedRequest(
            input: request, chain: chain, keys: keys, epoch: resolver.cache.epoch(of: keys.source, request.source),
            urgency: urgency, observer: observer, parts: parts)
        for companion in [Companion.placeholders, .interim] {
            guard companion != .interim || configuration.encodingBudget > .zero,
                let other = request.companion(companion)
            else { continue }
            resolved.outputs[companion] = keys.with(
                output: other.output, of: request, chain: chain, epoch: encoderEpoch)
        }
        return resolved
    }

    /// Throws if the source or a drawn image may not be contacted, as far as that is known without resolving a name.
    /// Cached entries do not count: they may have been stored under other settings.
    func requireAllowedSources(of request: ImageRequest) throws(PipelineError) {
        let origin = resolver.fetcher.fetch.origin
        if request.data == nil, let refusal = origin.refusal(of: request.source) { throw PipelineError(refusal) }
        for part in request.parts {
            for source in [part.source, part.fallback].compactMap(\.self) {
                if let refusal = origin.refusal(of: source) { throw PipelineError(refusal).ofPart(part.name) }
            }
        }
    }
}

/// Another request that the answer to a request needs, besides the images that it draws (``ResolvedParts``).
///
/// | Companion | When | If it fails |
/// |---|---|---|
/// | interim | instead of the request, while the requested output is encoded | the request fails with its error |
/// | placeholders | along with the image, from the same content | the answer has no placeholders |
/// | fallback | after the source has failed | the request fails with the error of its source |
enum Companion {
    case interim, placeholders, fallback
}

extension ImageRequest {
    func companion(_ companion: Companion) -> ImageRequest? {
        var request = self
        switch companion {
        case .interim:
            guard let interim else { return nil }
            request.output = interim
            request.interim = nil
        case .placeholders:
            // Placeholders depend on nothing else in the output, so images of different formats and qualities share
            // them.
            let details = placeholders.intersection([.color, .blurHash, .thumbHash, .lqip])
            guard !details.isEmpty else { return nil }
            let damaged = request.output.damaged
            request.output = OutputOptions(format: .json, details: details)
            request.output.damaged = damaged
            request.placeholders = []
        case .fallback:
            guard let fallback else { return nil }
            if data != nil { request.cache = cache.besideData }
            request.source = fallback
            request.fallback = nil
        }
        return request
    }
}
