import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// `GET /image` on local fixtures, through the built executable and a real socket.
@Suite(.timeLimit(.minutes(5)))
struct ImageRouteTests {
    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--local-root", URL.fixtures.path] + flags)
    }

    @Test func `A picture comes out upright, scaled, and with everything a cache needs to know`() async throws {
        let server = try await server()
        let first = try await server.image("local:///sample.jpg", "w=400&output=webp")
        #expect(first.status == 200)
        #expect(first["content-type"] == "image/webp")
        #expect(first["content-length"] == "\(first.body.readableBytes)")
        #expect(first["x-content-type-options"] == "nosniff")
        #expect(first["content-security-policy"]?.contains("sandbox") == true)
        #expect(first["cache-control"]?.contains("max-age=") == true)
        #expect(first["cache-status"]?.contains("fwd=miss") == true)
        #expect(first["server-timing"]?.contains("fetch;dur=") == true)
        #expect(first["last-modified"] != nil)
        #expect(first["vary"] == nil)
        let header = try SourceHeader(of: first.body)
        #expect(header.format == .webp)
        #expect(header.size.width == 400)
        #expect(header.orientation == 1)

        let second = try await server.image("local:///sample.jpg", "output=webp&w=400")
        #expect(second["cache-status"]?.contains("hit") == true)
        #expect(second.body == first.body)
        #expect(second["etag"] == first["etag"])
        #expect(await server.stop() == 0)
    }

    @Test(arguments: [[], ["--local-root", URL.fixtures.path]])
    func `The playground's own images are sources, with and without a local root`(flags: [String]) async throws {
        let server = try await DarkroomProcess(flags)
        #expect(try await server.image("local:///samples/coffee.jpg", "w=300").status == 200)
        #expect(try await server.image("local:///samples/paper-plane.svg", "w=300").status == 200)
        #expect(try await server.image("local:///etc/passwd").status == (flags.isEmpty ? 403 : 404))
        #expect(await server.stop() == 0)
    }

    @Test func `The playground's own images are no sources if it is off`() async throws {
        let closed = try await DarkroomProcess(["--playground", "false"])
        #expect(try await closed.image("local:///samples/coffee.jpg", "w=300").status == 403)
        #expect(try await Client.get("\(closed.base)/").status == 404)
        #expect(await closed.stop() == 0)
    }

    @Test func `A known ETag is answered with 304 and no body`() async throws {
        let server = try await server()
        let first = try await server.image("local:///sample.jpg", "w=50")
        let etag = try #require(first["etag"])
        #expect(etag.hasPrefix("\""))
        let again = try await server.image("local:///sample.jpg", "w=50", fields: [("If-None-Match", etag)])
        #expect(again.status == 304)
        #expect(again.body.readableBytes == 0)
        #expect(again["etag"] == etag)
        #expect(again["cache-control"] != nil)
        let other = try await server.image("local:///sample.jpg", "w=50", fields: [("If-None-Match", "\"other\"")])
        #expect(other.status == 200)
    }

    @Test func `HEAD answers as GET, without a body`() async throws {
        let server = try await server()
        let get = try await server.image("local:///sample.jpg", "w=60")
        let head = try await server.image("local:///sample.jpg", "w=60", method: .HEAD)
        #expect(head.status == 200)
        #expect(head.body.readableBytes == 0)
        for field in ["content-type", "content-length", "etag", "last-modified"] {
            #expect(head[field] == get[field], "\(field)")
        }
    }

    @Test func `Without a format Accept decides, and the answer says that it varies`() async throws {
        let server = try await server()
        for (accept, type) in [("image/webp,*/*", "image/webp"), ("image/avif,image/webp,*/*", "image/avif")] {
            let modern = try await server.image("local:///sample.jpg", "w=400&wait=best", fields: [("Accept", accept)])
            #expect(modern["content-type"] == type)
            #expect(modern["vary"]?.lowercased() == "accept")
        }
        let plain = try await server.image("local:///sample.jpg", "w=50", fields: [("Accept", "*/*")])
        #expect(plain["content-type"] == "image/jpeg")
        #expect(plain["vary"]?.lowercased() == "accept")
    }

    @Test(arguments: [
        ("w=0", "w"), ("w=abc", "w"), ("w=9000", "w"), ("fit=squash", "fit"), ("wdith=4", "wdith"),
        ("w=4&w=5", "w"), ("q=0", "q"), ("dpr=9&w=1", "dpr"), ("crop=0,0,99999,1", "crop"), ("output=bmp", "output"),
        ("a=focal&fpx=2", "fpx"), ("ro=360", "ro"), ("bg=nocolour", "bg"), ("maxage=5y", "maxage"), ("page=2", "page"),
        ("filename=../x", "filename"), ("resample=best", "resample"), ("trim=255", "trim"), ("orient=9", "orient"),
    ])
    func `A bad value is a 400 that names the parameter`(query: String, parameter: String) async throws {
        let server = try await server()
        let answer = try await server.image("local:///sample.jpg", query)
        #expect(answer.status == 400)
        #expect(answer.problem?.parameter == parameter)
        #expect(answer.problem?.status == 400)
        #expect(answer.problem?.detail?.isEmpty == false)
        #expect(answer.problem?.instance != nil)
    }

    @Test(arguments: [
        ("local:///missing.jpg", 404), ("local:///../Package.swift", 403), ("ftp://example.com/a.jpg", 400),
        ("not a url", 400), ("http://127.0.0.1:1/a.jpg", 403), ("http://2130706433/", 403), ("http://[::1]/", 403),
    ])
    func `A source that cannot be had says why`(source: String, status: Int) async throws {
        let server = try await server()
        let answer = try await server.image(source)
        #expect(answer.status == status)
        #expect(answer.problem?.status == status)
        #expect(answer.body.readableBytes < 2000)
    }

    @Test func `Every fixture is answered as its table says`() async throws {
        let server = try await server()
        let rows = try Fixture.all()
        #expect(rows.count > 40)
        for row in rows {
            let answer = try await server.image("local:///\(row.path)")
            #expect(answer.status == row.status, "\(row.path): \(String(buffer: answer.body).prefix(200))")
            guard answer.status == 200 else {
                #expect(answer.problem != nil, "\(row.path)")
                continue
            }
            #expect(try SourceHeader(of: answer.body).size == row.uprightSize, "\(row.path)")
        }
        #expect(await server.stop() == 0)
    }

    @Test func `Unknown routes and methods are problems too`() async throws {
        let server = try await server()
        let lost = try await Client.get(server.base + "/nothing/here")
        #expect(lost.status == 404)
        #expect(lost.problem != nil)
        let put = try await Client.get(server.base + "/image", method: .PUT)
        #expect(put.status == 405)
        #expect(put["allow"]?.contains("GET") == true)
        #expect(put.problem != nil)
        #expect(try await Client.get(server.base + "/health/live").status == 200)
        #expect(try await Client.get(server.base + "/health/ready").status == 200)
        let contract = try await Client.get(server.base + "/openapi.yaml")
        #expect(contract.status == 200)
        #expect(String(buffer: contract.body).hasPrefix("openapi: 3.1"))
    }
}
