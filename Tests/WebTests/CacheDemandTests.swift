import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import Foundation
import HTTPTypes
import HummingbirdCore
import Synchronization
import Testing

@testable import DarkroomWeb

/// What requests want of the caches, and who may want what.
struct CacheDemandTests {
    private let source = "/image?url=https://example.com/a.jpg"
    private let token = "correct-horse-battery"

    /// What the pipeline is asked for by a query and fields.
    private func asked(
        _ query: String, fields: HTTPFields = [:], _ configuration: WebConfiguration = WebConfiguration()
    ) async throws -> ImageRequest {
        let asked = Mutex<ImageRequest?>(nil)
        let site = TestSite(configuration: configuration) { request in
            asked.withLock { $0 = request }
            return .stub()
        }
        #expect(try await site.respond(source + query, fields: fields).status == .ok)
        return try #require(asked.withLock { $0 })
    }

    @Test(arguments: [
        ("", CacheMode.default), ("&cache=default", .default), ("&cache=force-cache", .forceCache),
        ("&cache=only-if-cached", .onlyIfCached),
    ])
    func `All clients may use modes that do not contact the origin`(query: String, mode: CacheMode) async throws {
        #expect(try await asked(query).cache.policy == RequestCachePolicy(mode: mode))
    }

    @Test(arguments: CacheMode.allCases.filter(\.forcesOriginRequest))
    func `A mode that contacts the origin requires the token`(mode: CacheMode) async throws {
        let query = "&cache=\(mode.rawValue)"
        for configuration in [WebConfiguration(), WebConfiguration(adminToken: token)] {
            for credentials in [nil, "Bearer wrong", "Basic \(token)", "Bearer", token] {
                var fields: HTTPFields = [:]
                fields[.authorization] = credentials
                let problem = try await TestSite(configuration: configuration).problem(source + query, fields: fields)
                #expect(problem.status == 403)
                #expect(problem.type == "/problems/refresh-not-allowed")
                #expect(problem.parameter == "cache")
                #expect(problem.detail.contains("Bearer"))
            }
        }
        let allowed = RequestCachePolicy(mode: mode, allowsForcedRefresh: true)
        let bearer: HTTPFields = [.authorization: "bearer  \(token)"]
        #expect(try await asked(query, fields: bearer, WebConfiguration(adminToken: token)).cache.policy == allowed)
    }

    @Test func `Directives are passed on together with the permission to contact the origin`() async throws {
        let fields: HTTPFields = [.cacheControl: "no-cache, max-stale=5"]
        let directives = RequestDirectives(fields)
        #expect(directives != RequestDirectives())
        #expect(try await asked("", fields: fields).cache.policy == RequestCachePolicy(directives: directives))
        var authorized = fields
        authorized[.authorization] = "Bearer \(token)"
        #expect(
            try await asked("", fields: authorized, WebConfiguration(adminToken: token)).cache.policy
                == RequestCachePolicy(directives: directives, allowsForcedRefresh: true))
    }

    @Test(arguments: [
        ("", TierSelection.all), ("&store=all", .all), ("&store=memory", .memory), ("&store=original", .originals),
        ("&store=variant", .variants), ("&store=none", .none),
    ])
    func `store limits where results are stored, not where they are looked up`(query: String, tiers: TierSelection)
        async throws
    {
        let use = try await asked(query).cache
        #expect(use.store == tiers)
        #expect(use.query == .all)
        #expect(!use.waitsForDisk)
    }

    @Test func `A response may wait for the disk`() async throws {
        #expect(try await asked("&wait=stored").cache.waitsForDisk)
    }

    @Test(
        arguments: [
            ("", nil, .normal), ("", "u=0", .high), ("", "u=2, i", .high), ("", "u=3", .normal), ("", "u=4", .normal),
            ("", "u=5", .low), ("", "u=7", .low), ("", "u=8", .normal), ("", "nonsense=", .normal),
            ("&priority=low", "u=0", .low), ("&priority=normal", "u=7", .normal), ("&priority=high", nil, .high),
        ] as [(String, String?, Priority)])
    func `The query's priority overrides the field's`(query: String, field: String?, priority: Priority) async throws {
        var fields: HTTPFields = [:]
        fields[.priority] = field
        #expect(try await asked(query, fields: fields).priority == priority)
    }

    @Test func `A fallback is a URL like the source's`() async throws {
        #expect(try await asked("").fallback == nil)
        let request = try await asked("&default=HTTPS%3A%2F%2Fb.example%2Fb.png")
        #expect(request.fallback?.canonical == "https://b.example/b.png")
        let problem = try await TestSite().problem(source + "&default=ftp://b.example/")
        #expect(problem.type == "/problems/invalid-url")
        #expect(problem.parameter == "default")
    }

    @Test func `Scaling down a source that is too large is part of the recipe`() async throws {
        #expect(try await asked("&scaledown").recipe.scaleDown)
        #expect(try await !asked("").recipe.scaleDown)
    }
}
