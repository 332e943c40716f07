public import DarkroomNetwork
import DarkroomOrigin
public import DarkroomTransforms

/// One picture that somebody wants: where it comes from and what is done to it.
public struct ImageRequest: Sendable {
    /// The source, as it is downloaded. Which stored entries it shares is up to the `CacheKeyFilter`.
    public var source: SourceURL
    /// What is done to the pixels.
    public var recipe: Recipe
    /// Which frames or pages are kept.
    public var pages: PageSelection
    /// The format and how it is encoded.
    public var output: OutputOptions
    /// How urgent the work is. Work that several requests share has the priority of the most urgent one.
    public var priority: Priority
    /// What it wants of the caches.
    public var cache: CacheOptions
    /// Another source, made into the same picture, for when this one fails; the same rules hold for it.
    public var fallback: SourceURL?
    /// What is told beside the picture, of the very picture: of `color`, `blurHash`, `thumbHash` and `lqip` those that are wanted.
    /// It changes none of the picture's bytes or keys.
    public var placeholders: ImageDetails
    /// Whom it is for, such as an address or the name of a key: where there is more to do than can be done, clients get equal shares.
    /// It changes nothing else. "" = nobody in particular, which counts as one client.
    public var client = ""

    /// The picture of a source, as it is unless a recipe says otherwise.
    public init(
        source: SourceURL, recipe: Recipe = Recipe(), pages: PageSelection = PageSelection(),
        output: OutputOptions = OutputOptions(), priority: Priority = .normal, cache: CacheOptions = CacheOptions(),
        fallback: SourceURL? = nil, placeholders: ImageDetails = []
    ) {
        self.source = source
        self.recipe = recipe
        self.pages = pages
        self.output = output
        self.priority = priority
        self.cache = cache
        self.fallback = fallback
        self.placeholders = placeholders
    }

    /// As above with the address as text. Throws `.invalidURL` with a sentence that says what is wrong with it.
    public init(
        url: String, recipe: Recipe = Recipe(), pages: PageSelection = PageSelection(),
        output: OutputOptions = OutputOptions(), priority: Priority = .normal, cache: CacheOptions = CacheOptions(),
        fallback: String? = nil, placeholders: ImageDetails = []
    ) throws(PipelineError) {
        self.init(
            source: try Self.source(url), recipe: recipe, pages: pages, output: output, priority: priority,
            cache: cache, placeholders: placeholders)
        if let fallback { self.fallback = try Self.source(fallback) }
    }

    /// The picture of an address, scaled to fit into a box without being enlarged; `recipe` can do more. Throws `.invalidURL` with a
    /// sentence that says what is wrong with it.
    ///
    /// - Parameters:
    ///   - width: of the box in pixels, 1 or more; nil = as the height gives.
    ///   - height: the same down.
    ///   - fit: how the picture fills the box where both sides are given.
    ///   - output: the format and how it is encoded. By default the source's own.
    public init(
        url: String, width: Int?, height: Int? = nil, fit: Fit = .inside, output: OutputOptions = OutputOptions()
    ) throws(PipelineError) {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: height)
        recipe.fit = fit
        self.init(source: try Self.source(url), recipe: recipe, output: output)
    }

    private static func source(_ url: String) throws(PipelineError) -> SourceURL {
        do { return try SourceURL(parsing: url) } catch { throw .invalidURL(error.description) }
    }
}

/// How urgent a piece of work is, in the queues for downloads and for pixels alike.
public enum Priority: Int, Sendable, Comparable, CaseIterable {
    /// Below everything that somebody waits for: revalidation behind an answer, and prefetching.
    case background
    case low, normal, high

    public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}
