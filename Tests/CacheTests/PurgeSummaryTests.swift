import DarkroomNetwork
import DarkroomStore
import NIOCore
import Testing

@testable import DarkroomCache

/// Purges that are summed up.
struct PurgeSummaryTests {
    private func orders(_ removed: Int64, _ stale: Int64) -> PurgedOrders.Orders {
        PurgedOrders.Orders(removed: removed, stale: stale)
    }

    private var summary: PurgeSummary {
        var summary = PurgeSummary()
        summary.everything = orders(1, 2)
        summary.hosts = ["example.com": orders(30, -1), "": orders(4, 5)]
        summary.tags = ["shoes": orders(-1, 60), "é": orders(7, 7)]
        summary.prefixes = ["http://example.com/": orders(80, 9)]
        summary.sources = [StoreKey(hashing: "source".utf8): orders(70, -1)]
        summary.sourcesAfter = 40
        return summary
    }

    @Test func `A summary is the same when it is read again`() {
        #expect(PurgeSummary(summary.bytes, latest: 80) == summary)
        #expect(PurgeSummary(PurgeSummary().bytes, latest: 0) == PurgeSummary())
        var doubtful = PurgeSummary()
        doubtful.everything.doubtful = 80
        #expect(PurgeSummary(doubtful.bytes, latest: 80) == doubtful)
        #expect(PurgeSummary(doubtful.bytes, latest: 79) == nil)
    }

    @Test func `A summary that an earlier release wrote knows no purges of single sources`() {
        var lasting = summary
        (lasting.sources, lasting.sourcesAfter) = ([:], .max)
        let written = lasting.bytes.readableBytesView
        var bytes = ByteBuffer(integer: UInt8(1))
        // The revision, the orders of everything, and the order after which the sources are known.
        bytes.writeBytes(written.dropFirst(1).prefix(24))
        bytes.writeBytes(written.dropFirst(33))
        #expect(PurgeSummary(bytes, latest: 80) == lasting)
    }

    @Test func `A summary that is cut off, of another revision or from the future is refused`() {
        let bytes = summary.bytes
        let whole = (0..<bytes.readableBytes).filter { count in
            PurgeSummary(bytes.getSlice(at: 0, length: count) ?? bytes, latest: 80) != nil
        }
        // Orders of everything, and orders with one to five targets.
        #expect(whole.count == 6)
        #expect(PurgeSummary(bytes, latest: 79) == nil)
        var other = bytes
        other.setInteger(UInt8(3), at: 0)
        #expect(PurgeSummary(other, latest: 80) == nil)
        var long = PurgeSummary()
        long.tags = [String(repeating: "a", count: SourceURL.maximumBytes + 1): orders(1, 1)]
        #expect(PurgeSummary(long.bytes, latest: 80) == nil)
    }

    @Test func `Later purges of the same targets count, and targets that were purged long ago are left out`() throws {
        var both = summary
        var other = PurgeSummary()
        other.include(orders(20, 99), of: .host("example.com"))
        other.include(orders(5, 5), of: .everything)
        other.include(orders(100, 100), of: .source(try SourceURL(parsing: "http://a/")))
        both.include(other)
        #expect(both.hosts["example.com"] == orders(30, 99) && both.everything == orders(5, 5))
        #expect(both.count == summary.count)
        let late = both.after(60)
        #expect(late.hosts.keys.sorted() == ["example.com"] && late.tags.isEmpty && late.prefixes.count == 1)
        #expect(late.everything == orders(5, 5))
        #expect(late.sources == summary.sources && late.sourcesAfter == 60)
        #expect(summary.after(70).sources.isEmpty && summary.after(30).sourcesAfter == 40)
    }

    @Test func `With too many targets, a purge makes everything doubtful and removes nothing`() throws {
        let orders = PurgedOrders()
        for number in 0..<100_000 { orders.add(.tag("\(number)"), source: nil, order: 1, isSoft: false) }
        orders.add(.host("example.com"), source: nil, order: 2, isSoft: false)
        #expect(orders.summary.everything == PurgedOrders.Orders(doubtful: 2) && orders.summary.hosts.isEmpty)
        orders.add(.everything, source: nil, order: 3, isSoft: false)
        #expect(orders.summary.everything == PurgedOrders.Orders(removed: 3, doubtful: 2))
        orders.removeTargets(upTo: 2)
        #expect(orders.summary.count == 0)
    }
}
