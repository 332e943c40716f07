import HTTPCaching
import Transforms

/// One request with what was worked out of it, as it goes from step to step.
struct Wanted: Sendable {
    var request: ImageRequest
    let chain: TransformChain
    let keys: RequestKeys
    /// When it began, in the life of its source: what it makes is kept only if there was no purge since.
    let moment: Generations.Moment
    var urgency: Urgency
    /// Hears of its downloads; nil = nobody does.
    var watcher: DownloadWatcher?

    /// Whether the client insists on asking the origin, whatever is remembered.
    var insists: Bool {
        let demand = request.cache.demand
        if demand.mode.asksOrigin { return true }
        return demand.mayForce && (demand.directives.noCache || demand.directives.maxAge == .zero)
    }

    /// The same, for nobody in particular.
    var inBackground: Wanted {
        var wanted = self
        wanted.request.priority = .background
        wanted.request.cache.demand = CacheDemand()
        wanted.request.cache.waitsForDisk = false
        wanted.urgency = Urgency(.background)
        wanted.watcher = nil
        return wanted
    }
}
