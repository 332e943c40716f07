import DarkroomTestOrigin
import HTTPTypes
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

struct OriginFieldsTests {
    private let fields = OriginFields([
        OriginFields.Rule(host: "127.0.0.1", fields: [.authorization: "secret", .userAgent: "Camera/1"]),
        OriginFields.Rule(host: "127.*", fields: [.userAgent: "Other/1", .referer: "https://shop.example/"]),
        OriginFields.Rule(host: "*", fields: [.range: "bytes=0-1"]),
    ])

    @Test func `The fields of a host are sent to it, and to no other host`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.fields = fields }
        let nameLookup = ScriptedNameLookup(["other.test": [["127.0.0.1"]]])
        try await withOrigin(settings, nameLookup: nameLookup) { request in
            let port = request.fields["host"]?.split(separator: ":").last ?? ""
            return request.target == "/" ? [.redirect(to: "http://other.test:\(port)/end")] : [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url())
            #expect(origin.requests.map { $0.fields["authorization"] } == ["secret", nil])
            #expect(origin.requests.map { $0.fields["user-agent"] } == ["Camera/1", "darkroom"])
            #expect(origin.requests.map { $0.fields["referer"] } == ["https://shop.example/", nil])
            #expect(origin.requests.map { $0.fields["range"] } == [nil, nil])
        }
    }

    @Test func `What selected a response is known without the secret, and changes with it`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.fields = fields }
        try await withOrigin(settings) { _ in
            [.respond()]
        } _: { client, origin async throws in
            let request = OriginRequest(url: try origin.url())
            let sent = try await client.fetch(request).sentFields
            #expect(sent == client.sentFields(for: request))
            #expect(sent[.authorization]?.contains("secret") == false)
            var changed = settings
            changed.fields = OriginFields([
                OriginFields.Rule(host: "127.0.0.1", fields: [.authorization: "another secret"])
            ])
            client.vet(by: changed)
            #expect(client.sentFields(for: request)[.authorization] != sent[.authorization])
        }
    }

    @Test func `A delegate's field takes precedence`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.fields = fields }
        try await withOrigin(settings) { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(), headers: [.userAgent: "Mine/1"])
            #expect(origin.requests.map { $0.fields["user-agent"] } == ["Mine/1"])
        }
    }
}
