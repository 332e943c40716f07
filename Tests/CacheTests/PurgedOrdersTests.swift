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
}
