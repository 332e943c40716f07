import DarkroomEviction
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import Synchronization

/// The targets that hits were answered for lately, within a byte budget.
final class KnownTargets: Sendable {
    /// A target, byte by byte: strings with other bytes may be equal in Unicode.
    private struct Key: Hashable, Sendable {
        let text: String

        static func == (left: Key, right: Key) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

        func hash(into hasher: inout Hasher) {
            let whole: Void? = text.utf8.withContiguousStorageIfAvailable {
                hasher.combine(bytes: UnsafeRawBufferPointer($0))
            }
            if whole == nil { for byte in text.utf8 { hasher.combine(byte) } }
        }
    }

    private let table: Mutex<SieveTable<Key, KnownTarget>>

    /// - Parameter budgetBytes: 0 = none is kept.
    init(budgetBytes: Int = 8 << 20) {
        table = Mutex(SieveTable(budgetBytes: budgetBytes))
    }

    subscript(_ target: String) -> KnownTarget? {
        table.withLock { $0.value(for: Key(text: target)) }
    }

    /// The known target without counting as a use.
    func peek(_ target: String) -> KnownTarget? {
        table.withLock { $0.peek(Key(text: target)) }
    }

    func insert(_ known: KnownTarget, for target: String) {
        let cost = Self.formBytes * max(known.lookups.count, 2) + 3 * target.utf8.count
        let freed = table.withLock { $0.insert(known, cost: cost, for: Key(text: target)) }
        _ = consume freed
    }

    /// The bytes of one form of an image, besides its target, whose text the query and the source repeat: a resolved
    /// request with its chain, and two encoded heads.
    private static let formBytes = 4 << 10
}

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

    /// The images with one more image.
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
