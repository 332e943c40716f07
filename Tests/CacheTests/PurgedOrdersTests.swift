import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCache

/// The records that purges outdate in the shared tier.
struct PurgedOrdersTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let purged = PurgedOrders()
    private let source: StoreKey
    private let record: SourceRecord

    init() throws {
        let url = try SourceURL(parsing: "http://example.com/a.png")
        source = RequestKeys.source(url.canonical)
        var fields = HTTPFields()
        fields[HTTPField.Name("Surrogate-Key") ?? .accept] = "7"
        record = SourceRecord(
            url: url.canonical, host: "example.com", answeredURL: url.canonical,
            response: StoredResponse(
                status: 200, fields: fields, sent: [:], requestedAt: Self.now, receivedAt: Self.now),
            content: StoreKey(hashing: "x".utf8), policy: FreshnessPolicy())
    }

    private var orders: PurgedOrders.Orders { purged.orders(of: source, record) }

    @Test func `Beyond very many targets, a purge of another one makes everything doubtful`() {
        for number in 0..<100_000 { purged.add(.tag("\(number)"), source: nil, order: 10, isSoft: false) }
        #expect(orders == PurgedOrders.Orders(removed: 10))
        purged.add(.tag("7"), source: nil, order: 20, isSoft: false)
        purged.add(.tag("8"), source: nil, order: 21, isSoft: true)
        #expect(orders == PurgedOrders.Orders(removed: 20))
        purged.add(.host("example.org"), source: nil, order: 30, isSoft: false)
        #expect(orders == PurgedOrders.Orders(removed: 20, doubtful: 30))
        #expect(orders.next == 31)
    }

    @Test func `Very many purges of single sources leave other targets alone`() throws {
        let url = try SourceURL(parsing: "http://example.com/b.png")
        for number in 0..<100_000 {
            purged.add(.source(url), source: StoreKey(hashing: "\(number)".utf8), order: 10, isSoft: false)
        }
        purged.add(.tag("7"), source: nil, order: 20, isSoft: false)
        #expect(orders == PurgedOrders.Orders(removed: 20))
        purged.add(.source(url), source: StoreKey(hashing: "7".utf8), order: 29, isSoft: false)
        #expect(orders == PurgedOrders.Orders(removed: 20))
        purged.add(.source(url), source: StoreKey(hashing: "one more".utf8), order: 30, isSoft: false)
        #expect(orders == PurgedOrders.Orders(removed: 20, doubtful: 30))
    }

    @Test(arguments: [true, false])
    func `Only a record from after all purges of its source is permitted, once all are known`(isSoft: Bool) throws {
        let url = try SourceURL(parsing: "http://example.com/a.png")
        purged.add(.source(url), source: source, order: 20, isSoft: isSoft)
        #expect(!purged.permit(21, of: source, record))
        purged.recordSources(after: 10)
        #expect(!purged.permit(20, of: source, record))
        #expect(purged.permit(21, of: source, record))
        let other = StoreKey(hashing: "other".utf8)
        #expect(!purged.permit(10, of: other, record))
        #expect(purged.permit(11, of: other, record))
    }

    @Test(arguments: [
        PurgeTarget.host("example.com"), .tag("7"), .prefix("http://example.com/"), .everything,
    ])
    func `A record up to the order of another purge that concerns it is not permitted`(target: PurgeTarget) {
        purged.recordSources(after: 10)
        for (isSoft, order) in [(false, Int64(30)), (true, 40)] {
            purged.add(target, source: nil, order: order, isSoft: isSoft)
            #expect(!purged.permit(order, of: source, record))
            #expect(purged.permit(order + 1, of: source, record))
        }
        purged.doubt(upTo: 50)
        #expect(!purged.permit(50, of: source, record))
        #expect(purged.permit(51, of: source, record))
    }

    @Test func `The first of very many purges are forgotten, and no record from before them is permitted`() throws {
        let url = try SourceURL(parsing: "http://example.com/a.png")
        for order in 1...50_001 {
            let key = StoreKey(hashing: "\(order)".utf8)
            purged.add(.source(url), source: key, order: Int64(order), isSoft: false)
        }
        purged.recordSources(after: 0)
        // The store has marks of the purges up to this order only.
        purged.trimSources(upTo: 100)
        #expect(purged.summary.sources.count == 49_901)
        #expect(!purged.permit(100, of: source, record))
        #expect(purged.permit(101, of: source, record))
        purged.trimSources(upTo: 50_000)
        #expect(purged.summary.sources.count == 49_901)
        #expect(purged.permit(101, of: source, record))
    }

    @Test func `Purges that were forgotten before the others were known stay unknown`() {
        purged.forgetSources(upTo: 20)
        #expect(purged.summary.sourcesAfter == .max)
        #expect(!purged.permit(30, of: source, record))
        purged.recordSources(after: 10)
        #expect(purged.summary.sourcesAfter == 20)
        #expect(!purged.permit(20, of: source, record))
        #expect(purged.permit(21, of: source, record))
    }
}
