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
    private let images: Images<ImageLookup>
    private let heads = Mutex(Images(webP: HitHeads(), other: HitHeads()))

    /// A value for clients that accept WebP, and one for all others. They are the same unless the format is negotiated.
    struct Images<Value> {
        var webP: Value
        var other: Value

        subscript(acceptingWebP acceptsWebP: Bool) -> Value {
            get { acceptsWebP ? webP : other }
            set { if acceptsWebP { webP = newValue } else { other = newValue } }
        }
    }

    init(
        query: ImageQuery, source: SourceURL, authorization: Authorization, metrics: RouteMetrics,
        images: Images<ImageLookup>
    ) {
        self.query = query
        self.source = source
        self.authorization = authorization
        self.metrics = metrics
        self.images = images
    }

    func image(acceptingWebP: Bool) -> ImageLookup { images[acceptingWebP: acceptingWebP] }

    /// Uses the encoded heads of the image.
    func withHeads<Result>(acceptingWebP: Bool, _ body: (inout HitHeads) -> Result) -> Result {
        heads.withLock { body(&$0[acceptingWebP: acceptingWebP]) }
    }
}

extension KnownTarget.Images: Sendable where Value: Sendable {}
