import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCache

/// Which work in progress a purge concerns.
struct PurgeEpochsTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let source: SourceURL
    private let access: CacheAccess
    private let record: SourceRecord

    init() throws {
        source = try SourceURL(parsing: "http://example.com/shop/a.png")
        let keys = RequestKeys(
            source: RequestKeys.source(source.canonical), variant: StoreKey(hashing: "variant".utf8))
        access = CacheAccess(ImageRequest(source: source), keys: keys, epoch: PurgeEpochs().current)
        var fields = HTTPFields()
        fields[HTTPField.Name("Surrogate-Key") ?? .accept] = "shoes"
        record = SourceRecord(
            url: "http://cdn.example.net/a.png", host: "cdn.example.net", answeredURL: source.canonical,
            response: StoredResponse(
                status: 200, fields: fields, sent: [:], requestedAt: Self.now, receivedAt: Self.now),
            content: StoreKey(hashing: "x".utf8), policy: FreshnessPolicy())
    }

    @Test(
        arguments: [
            (.host("example.com"), true), (.host("cdn.example.net"), true), (.host("example.org"), false),
            (.prefix("http://example.com/shop/"), true), (.prefix("http://cdn"), true), (.prefix("https://"), false),
            (.tag("shoes"), true), (.tag("hats"), false), (.everything, true),
        ] as [(PurgeTarget, Bool)])
    func `A purge concerns work on sources that it matches, and no other`(target: PurgeTarget, concerns: Bool) {
        let epochs = PurgeEpochs()
        epochs.advance(.everything, source: nil)
        let (started, shared) = (epochs.current, epochs.current(of: access.keys.source, source))
        #expect(epochs.isCurrent(started, of: access, record))
        epochs.advance(target, source: nil)
        #expect(epochs.isCurrent(started, of: access, record) == !concerns)
        #expect(epochs.isCurrent(shared, of: access, record) == !concerns)
        #expect(epochs.isCurrent(epochs.current, of: access, record))
    }

    @Test(
        arguments: [
            .host("example.com"), .prefix("http://cdn"), .tag("shoes"), .everything,
        ] as [PurgeTarget])
    func `A purge does not concern work on a response that was requested after it`(target: PurgeTarget) {
        let epochs = PurgeEpochs()
        let started = epochs.current
        epochs.advance(target, source: nil, order: 7)
        #expect(epochs.isCurrent(started, of: access, record) { 8 })
        #expect(!epochs.isCurrent(started, of: access, record) { 7 })
        #expect(!epochs.isCurrent(started, of: access, record))
        epochs.advance(target, source: nil, order: 5)
        #expect(!epochs.isCurrent(started, of: access, record) { 6 })
        epochs.advance(target, source: nil)
        #expect(!epochs.isCurrent(started, of: access, record) { .max })
        let later = epochs.current
        epochs.advance(target, source: nil, order: 9)
        #expect(epochs.isCurrent(later, of: access, record) { 10 })
        #expect(!epochs.isCurrent(later, of: access, record) { 9 })
    }

    @Test func `While the tags of a source are unknown, any purge of a tag concerns it`() {
        let epochs = PurgeEpochs()
        let (started, shared) = (epochs.current, epochs.current(of: access.keys.source, source))
        epochs.advance(.host("example.org"), source: nil)
        #expect(epochs.isCurrent(started, of: access, nil))
        #expect(epochs.current(of: access.keys.source, source) == shared)
        epochs.advance(.tag("hats"), source: nil)
        #expect(!epochs.isCurrent(started, of: access, nil))
        #expect(epochs.current(of: access.keys.source, source) != shared)
    }

    @Test func `Of very many purges, work counts as purged that started before the first of them`() {
        let epochs = PurgeEpochs()
        let first = epochs.current
        for number in 0..<6_000 { epochs.advance(.host("\(number).example.org"), source: nil) }
        let middle = epochs.current
        #expect(epochs.isCurrent(first, of: access, record))
        for number in 6_000..<10_001 { epochs.advance(.host("\(number).example.org"), source: nil) }
        #expect(!epochs.isCurrent(first, of: access, record))
        #expect(epochs.isCurrent(middle, of: access, record))
        for number in 0..<65 { epochs.advance(.prefix("http://\(number)"), source: nil) }
        #expect(!epochs.isCurrent(middle, of: access, record))
        #expect(epochs.isCurrent(epochs.current, of: access, record))
    }
}
