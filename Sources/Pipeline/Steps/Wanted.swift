import DarkroomHTTPCaching
import DarkroomTransforms

/// One request with what was worked out of it, as it goes from step to step.
struct Wanted: Sendable {
    var request: ImageRequest
    let chain: TransformChain
    private(set) var keys: RequestKeys
    /// Those of the document that tells the placeholders; nil = none are wanted.
    private(set) var documentKeys: RequestKeys?
    /// When it began, in the life of its source: what it makes is kept only if there was no purge since.
    let moment: Generations.Moment
    var urgency: Urgency
    /// Hears of its downloads; nil = nobody does.
    var watcher: DownloadWatcher?

    /// Whether the client insists on asking the origin, whatever is remembered.
    var insists: Bool {
        let demand = request.cache.policy
        if demand.mode.forcesOriginRequest { return true }
        return demand.allowsForcedRefresh && (demand.directives.noCache || demand.directives.maxAge == .zero)
    }

    /// The document that tells the placeholders of this very picture: the same content by the same chain. Nil = none are wanted.
    var document: Wanted? {
        guard let documentKeys else { return nil }
        var wanted = withoutPlaceholders
        wanted.request.output = request.placeholderOutput
        wanted.keys = documentKeys
        return wanted
    }

    var withoutPlaceholders: Wanted {
        var wanted = self
        wanted.request.placeholders = []
        wanted.documentKeys = nil
        return wanted
    }

    /// The same, for nobody in particular.
    var inBackground: Wanted {
        var wanted = self
        wanted.request.priority = .background
        wanted.request.cache.policy = RequestCachePolicy()
        wanted.request.cache.waitsForDisk = false
        wanted.urgency = Urgency(.background)
        wanted.watcher = nil
        return wanted
    }
}

extension ImageRequest {
    /// How the document is encoded that placeholders stand in. It depends on nothing else of the output, so that pictures that differ
    /// in format or quality share it.
    var placeholderOutput: OutputOptions {
        OutputOptions(format: .json, details: placeholders.intersection([.color, .blurHash, .thumbHash, .lqip]))
    }
}
