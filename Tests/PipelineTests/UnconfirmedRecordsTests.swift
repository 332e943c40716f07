import DarkroomHTTPCaching
import DarkroomObjectStorage
import DarkroomStore
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// A server that cannot read the purges of the others.
@Suite(.timeLimit(.minutes(5)))
struct UnconfirmedRecordsTests {
    private let cluster: Cluster
    private let (first, second): (Cluster.Node, Cluster.Node)

    init() async throws {
        cluster = try Cluster(.control("max-age=3600, stale-while-revalidate=86400", etag: "a"))
        (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        cluster.wall.advance(seconds: 1)
    }

    private func cutOff() async {
        cluster.bucket.fail { _, _ in .unreachable(.refused) }
        #expect(await !second.pipeline.carryOutPurges())
        cluster.wall.advance(seconds: 1)
    }

    @Test func `A purge just before the store failed is not missed`() async throws {
        await first.pipeline.purge(.everything)
        cluster.origin.answer(.picture(try Pictures.green.get(), .control("max-age=3600", etag: "b")))
        await cutOff()
        #expect(try await second.ask().cache.originStatus == 200)
        #expect(try await second.tier() == .memory)
    }

    @Test(arguments: [false, true])
    func `The origin is asked once about each source after each failed read of the purges`(
        usesDisk: Bool
    ) async throws {
        for failures in 1...3 {
            await cutOff()
            if usesDisk { second.pipeline.shrinkMemory(toFraction: 0) }
            #expect(try await second.ask().cache.originStatus == 304)
            #expect(try await second.tier() == .memory)
            #expect(cluster.origin.fetches.value == 1 + failures)
        }
    }

    @Test func `A server that is cut off serves nothing that others purge meanwhile`() async throws {
        await cutOff()
        #expect(try await second.ask().cache.originStatus == 304)
        cluster.bucket.fail(nil)
        await first.pipeline.purge(.everything)
        cluster.origin.answer(.picture(try Pictures.green.get(), .control("max-age=3600", etag: "b")))
        await cutOff()
        #expect(try await second.ask().cache.originStatus == 200)
    }

    @Test func `Images are served without their origin, too`() async throws {
        await cutOff()
        cluster.origin.answer(.status(503, [:]))
        #expect(try await second.ask().cache.staleBecause != nil)
    }

    @Test func `Once the purges are read again, what is left is used as before`() async throws {
        await cutOff()
        cluster.bucket.fail(nil)
        #expect(await second.pipeline.carryOutPurges())
        #expect(try await second.tier() == .memory)
        #expect(cluster.origin.fetches.value == 1)
    }
}
