import DarkroomCache
import DarkroomEviction
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// The targets of recent hits and remembered failures, within a byte budget.
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

        var hash: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
    }

    private struct Table {
        var table: SieveTable<Key, KnownTarget>
        var doorkeeper = Doorkeeper(places: 1 << 14)
    }

    private let table: Mutex<Table>

    /// - Parameter budgetBytes: 0 = none is kept.
    init(budgetBytes: Int = 8 << 20) {
        table = Mutex(Table(table: SieveTable(budgetBytes: budgetBytes)))
    }

    subscript(_ target: String) -> KnownTarget? {
        table.withLock { $0.table.value(for: Key(text: target)) }
    }

    /// Keeps a target. A full table keeps only targets that come again soon.
    func insert(_ known: KnownTarget, for target: String) {
        let key = Key(text: target)
        let cost =
            KnownTarget.formCost(of: known.query) * max(known.forms.count, 2) + 3 * target.utf8.count
        let freed = table.withLock { table -> [KnownTarget] in
            guard table.table.bytes + cost <= table.table.budgetBytes || table.doorkeeper.knows(key.hash) else {
                return []
            }
            return table.table.insert(known, cost: cost, for: key)
        }
        _ = consume freed
    }
}

/// The meaning of a request's target: all that follows from the target and the configuration alone.
final class KnownTarget: Sendable {
    /// The image for clients of the same preferences.
    final class Form: Sendable {
        let preferences: ClientPreferences
        let lookup: ImageLookup
        let heads = Mutex(ImageHeads())
        var request: ImageRequest { lookup.request }

        init(_ preferences: ClientPreferences, _ lookup: ImageLookup) {
            (self.preferences, self.lookup) = (preferences, lookup)
        }
    }

    /// The bytes of one form of an image, besides its target, whose text the query and the source repeat: a resolved
    /// request with its chain, and two encoded heads.
    private static let formBytes = 4 << 10
    /// The bytes of a drawn image or a layer in a form: a resolved request with its chain and keys, or a step.
    private static let partBytes = 2 << 10

    /// The approximate bytes of one form of the image of a query.
    static func formCost(of query: ImageQuery) -> Int {
        formBytes + partBytes * (query.parts.count + query.recipe.layers.count)
    }

    let query: ImageQuery
    /// It names the client of the first request.
    let authorization: Authorization
    /// The forms of the image that were asked for, at least one.
    let forms: [Form]
    private let clients = Mutex<[Client]>([])

    /// What a client says, and the form that this means.
    private struct Client {
        /// The field `Accept`, byte by byte: strings with other bytes may be equal in Unicode.
        let accept: [UInt8]?
        let isSlow: Bool
        let form: Form
    }

    init(_ query: ImageQuery, _ authorization: Authorization, _ forms: [Form]) {
        (self.query, self.authorization, self.forms) = (query, authorization, forms)
    }

    /// The form for a client; nil if none of its preferences has asked yet.
    ///
    /// - Parameter preferences: reads what the client says, unless it said the same as one of the last few.
    func form(_ accept: String?, isSlow: Bool, _ preferences: () -> ClientPreferences) -> Form? {
        let known = clients.withLock { clients in
            clients.first { $0.isSlow == isSlow && $0.accept.isSame(as: accept) }?.form
        }
        if let known { return known }
        let preferences = preferences()
        let form = forms.first { $0.preferences == preferences }
        guard let form, accept?.utf8.count ?? 0 <= Self.maxFieldBytes else { return form }
        let client = Client(accept: accept.map { Array($0.utf8) }, isSlow: isSlow, form: form)
        clients.withLock { clients in
            if clients.count == Self.maxClients { clients.removeFirst() }
            clients.append(client)
        }
        return form
    }

    /// Browsers send about one field each. Together they are smaller than a form of an image.
    private static let (maxClients, maxFieldBytes) = (4, 512)
}

/// The encoded heads of the answers with one image, 200 and 304. Most fields are encoded once for each content of the
/// image, the other fields once for each second.
struct ImageHeads {
    /// The whole seconds that the passing fields depend on.
    struct Moment: Equatable {
        let now: Int
        let age: Int
        let remaining: Int
        /// Until the URL expires.
        let validity: Duration?

        init(_ image: ImageResponse, validity: Duration?, now: Date) {
            self.now = Int(now.timeIntervalSince1970.rounded(.down))
            age = image.age.wholeSeconds
            remaining = image.remaining.wholeSeconds
            self.validity = validity
        }
    }

    /// What the lasting fields and the details depend on, besides the request's target. A record is never changed, but
    /// replaced.
    private struct Basis: Equatable {
        let digest: String
        let tier: CacheReport.Tier?
        /// A stale image is no hit to the log.
        let isStale: Bool
        let placeholders: Placeholders?
        let record: SourceRecord?
        let partRecords: [SourceRecord]

        init(_ image: ImageResponse) {
            (digest, tier, isStale) = (image.digest, image.cache.variant, image.remaining < .zero)
            (placeholders, record, partRecords) = (image.placeholders, image.record, image.partRecords)
        }

        static func == (left: Basis, right: Basis) -> Bool {
            left.record === right.record && left.partRecords.elementsEqual(right.partRecords, by: ===)
                && left.digest == right.digest && left.tier == right.tier && left.isStale == right.isStale
                && left.placeholders == right.placeholders
        }
    }

    private struct Encoded {
        let basis: Basis
        let lasting: ByteBuffer
        let moment: Moment
        let reply: Reply
    }

    private var full: Encoded?
    private var notModified: Encoded?

    /// The reply at this moment, without its body. The other arguments are evaluated when there is something to encode.
    mutating func reply(
        of image: ImageResponse, notModified isNotModified: Bool, at moment: Moment,
        _ sharing: @autoclosure () -> ReplySharing, details: @autoclosure () -> AccessLogDetails,
        _ response: @autoclosure () -> ImageHTTPResponse
    ) -> Reply {
        let basis = Basis(image)
        let known = isNotModified ? notModified : full
        if let known, known.basis == basis, known.moment == moment { return known.reply }
        let current = known?.basis == basis ? known : nil
        let response = response()
        let lasting = current?.lasting ?? response.lastingHead(notModified: isNotModified, sharing())
        var head = lasting
        let fields = response.passingFields
        head.write(fields)
        let reply = Reply(
            status: isNotModified ? 304 : 200, head: head, cacheStatus: fields[.cacheStatus],
            details: current?.reply.details ?? details())
        let new = Encoded(basis: basis, lasting: lasting, moment: moment, reply: reply)
        if isNotModified { notModified = new } else { full = new }
        return reply
    }
}

extension ImageHTTPResponse {
    /// The fields that last, as they are sent.
    fileprivate func lastingHead(notModified: Bool, _ sharing: ReplySharing) -> ByteBuffer {
        guard !notModified else { return .head(.notModified, lastingFields, sharing) }
        var fields = fullFields(lastingFields)
        fields.add(.contentLength, String(body.readableBytes))
        return .head(.ok, fields, sharing)
    }
}

extension [UInt8]? {
    fileprivate func isSame(as text: String?) -> Bool {
        guard let self, let text else { return self == nil && text == nil }
        let isSame = text.utf8.withContiguousStorageIfAvailable { other in
            self.withUnsafeBufferPointer { $0.count == other.count && $0.elementsEqual(other) }
        }
        return isSame ?? self.elementsEqual(text.utf8)
    }
}

/// The meanings of queries apart from their sources, within a byte budget: sites ask for many images in few forms, so
/// that an unknown target often differs from others in its source alone.
final class KnownForms: Sendable {
    private let table: Mutex<SieveTable<[UInt8], ImageQuery>>

    init(budgetBytes: Int = 1 << 20) {
        table = Mutex(SieveTable(budgetBytes: budgetBytes))
    }

    /// What a query means, by another that differs in the source alone, or as read.
    ///
    /// - Parameter grammar: always the same.
    func query(_ text: QueryString, _ grammar: ImageQueryGrammar) throws(InvalidParameter) -> ImageQuery {
        // In other dialects, the source may have other forms too.
        guard Dialect.of(text, standard: grammar.dialect) == .darkroom,
            let source = text.pairs.first(where: { $0.name == "url" })?.value, !source.isEmpty
        else { return try grammar.parse(text) }
        let key = Self.key(of: text)
        if var known = table.withLock({ $0.value(for: key) }) {
            known.url = source
            return known
        }
        let query = try grammar.parse(text)
        let freed = table.withLock { $0.insert(query, cost: key.count + KnownTarget.formCost(of: query), for: key) }
        _ = consume freed
        return query
    }

    /// The bytes of all pairs in their order, without the first source. Bytes that UTF-8 lacks separate them.
    private static func key(of text: QueryString) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(128)
        var hasSource = false
        for pair in text.pairs {
            key.append(contentsOf: pair.name.utf8)
            key.append(0xFE)
            if !hasSource, pair.name == "url" {
                hasSource = true
            } else if let value = pair.value {
                key.append(0xFD)
                key.append(contentsOf: value.utf8)
            }
            key.append(0xFF)
        }
        return key
    }
}
