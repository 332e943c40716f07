import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import Synchronization

/// The meaning of a request target that was answered before: all that follows from the target and the configuration
/// alone.
final class KnownTarget: Sendable {
    let query: ImageQuery
    let source: SourceURL
    /// Without the client, which is another for each request.
    let authorization: Authorization
    /// The metrics of the route.
    let metrics: RouteMetrics
    /// The forms of the image that were asked for, each by the preferences of its clients.
    private let forms: [ClientPreferences]
    /// The images in the order of the forms.
    let lookups: [ImageLookup]
    private let heads: Mutex<[HitHeads]>

    /// - Parameter images: at least one, with different preferences.
    init(
        query: ImageQuery, source: SourceURL, authorization: Authorization, metrics: RouteMetrics,
        images: [(preferences: ClientPreferences, lookup: ImageLookup)]
    ) {
        self.query = query
        self.source = source
        self.authorization = authorization
        self.metrics = metrics
        forms = images.map(\.preferences)
        lookups = images.map(\.lookup)
        heads = Mutex(images.map { _ in HitHeads() })
    }

    /// The place of the image for a request among ``lookups``; nil if no such client has asked yet.
    func form(_ negotiation: NegotiationPolicy, _ request: FastRequest) -> Int? {
        let connection = ConnectionHints(saveData: request.saveData)
        return form(negotiation.preferences(of: query, accept: request.accept, connection: connection))
    }

    func form(_ preferences: ClientPreferences) -> Int? { forms.firstIndex(of: preferences) }

    /// The images with another one.
    func images(
        adding image: (preferences: ClientPreferences, lookup: ImageLookup)
    ) -> [(preferences: ClientPreferences, lookup: ImageLookup)] {
        zip(forms, lookups).map { (preferences: $0, lookup: $1) } + [image]
    }

    /// Uses the encoded heads of the image in a form.
    func withHeads<Result>(of form: Int, _ body: (inout HitHeads) -> Result) -> Result {
        heads.withLock { body(&$0[form]) }
    }
}
