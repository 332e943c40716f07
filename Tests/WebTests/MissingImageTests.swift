import DarkroomPipeline
import DarkroomQuery
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomWeb

/// How long caches in front keep that an image is missing.
struct MissingImageTests {
    private let target = "/image?url=https://example.com/a.jpg"

    private func control(
        _ error: PipelineError = .notFound(status: 404), _ target: String? = nil, fields: HTTPFields = [:],
        _ change: (inout WebConfiguration) throws -> Void = { _ in }
    ) async throws -> String? {
        var configuration = WebConfiguration.test(token: "correct-horse-battery")
        try change(&configuration)
        let site = TestSite(configuration: configuration) { _ throws(PipelineError) in throw error }
        let response = try await site.respond(target ?? self.target, fields: fields)
        #expect(response.headers[values: .cacheControl].count == 1)
        return response.headers[.cacheControl]
    }

    @Test(arguments: [
        PipelineError.notFound(status: 404), .notFound(status: 410), .notFound(status: nil),
        .remembered(.notFound(status: 404), retryAfterSeconds: 7),
    ])
    func `An image that the origin does not have is missing for some seconds`(error: PipelineError) async throws {
        #expect(try await control(error) == "public, max-age=10")
        #expect(try await control(error) { $0.missingMaxAge = .seconds(300) } == "public, max-age=300")
        #expect(try await control(error) { $0.missingMaxAge = .zero } == "no-store")
    }

    @Test(arguments: [
        (PipelineError.notFound(status: 404, lifetime: .zero), "no-store"),
        (.notFound(status: 410, lifetime: .milliseconds(900)), "no-store"),
        (.notFound(status: 404, lifetime: .seconds(4)), "public, max-age=4"),
        (.notFound(status: 404, lifetime: .seconds(60)), "public, max-age=10"),
        (.remembered(.notFound(status: 404, lifetime: .seconds(60)), retryAfterSeconds: 7), "public, max-age=7"),
        (.remembered(.notFound(status: 404, lifetime: .seconds(60)), retryAfterSeconds: 50), "public, max-age=10"),
    ])
    func `It is missing no longer than the origin lets caches know that`(
        error: PipelineError, expected: String
    ) async throws {
        #expect(try await control(error) == expected)
    }

    @Test(arguments: [PipelineError.corrupt, .overloaded(retryAfterSeconds: 1), .notAllowed("No."), .timedOut])
    func `Any other problem is never kept`(error: PipelineError) async throws {
        #expect(try await control(error) == "no-store")
    }

    @Test func `A signed URL is missing no longer than it is valid, and for the admin token alone in no shared cache`()
        async throws
    {
        let key = try SigningKey(id: "k1", secret: "correct-horse-battery-staple-0123")
        let now = Date(timeIntervalSince1970: 1_000_000)
        var configuration = WebConfiguration.test(token: nil)
        configuration.access.signingKeys = [key]
        configuration.now = { now }
        let signed = try URLSigner(configuration).sign(target, expires: now.addingTimeInterval(4))
        let change = { (used: inout WebConfiguration) in
            used.access.signingKeys = [key]
            used.now = { now }
        }
        #expect(try await control(.notFound(status: 404), signed, change) == "public, max-age=4, must-revalidate")
        let admin: HTTPFields = [.authorization: "Bearer correct-horse-battery"]
        #expect(try await control(fields: admin, change) == "private, max-age=10")
    }
}
