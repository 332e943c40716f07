import DarkroomNetwork
public import DarkroomRequests

extension ImageRequest {
    /// Creates a request from an address as text.
    ///
    /// - Throws: ``PipelineError/invalidURL(_:)`` with a sentence that says what is wrong with the address.
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

    /// Creates a request that scales an image into a box without enlarging it. Set ``recipe`` for anything else.
    ///
    /// - Parameters:
    ///   - width: the box's width in pixels, 1 or more; nil derives it from the height.
    ///   - height: the box's height in pixels, 1 or more; nil derives it from the width.
    ///   - fit: how the image fills the box when both sides are given.
    ///   - output: the format and its encoder options. Default: the source's format.
    /// - Throws: ``PipelineError/invalidURL(_:)`` with a sentence that says what is wrong with the address.
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
