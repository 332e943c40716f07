import HTTPTypes
import Synchronization
import Testing

@testable import DarkroomHTTPServer

/// Paths below the path of a reverse proxy.
@Suite(.timeLimit(.minutes(5)))
struct BasePathTests {
    @Test(
        arguments: [
            ("/img/image?url=a", "/image?url=a"), ("/img/", "/"), ("/img", "/"), ("/img?a=/img/", "/?a=/img/"),
            ("/img/img/image", "/img/image"), ("/img//image", "//image"),
            ("/image", nil), ("/imgs/image", nil), ("/IMG/image", nil), ("/im%67/image", nil), ("/a/img/image", nil),
            ("", nil), ("*", nil), ("http://host/img/image", nil),
        ] as [(String, String?)])
    func `Only a target that begins with the whole base path loses it`(target: String, expected: String?) {
        #expect(BasePath.target(target, below: "/img") == expected)
    }

    @Test func `Routes and the access log know no base path, and requests without it are answered too`() async throws {
        let log = AccessLogRecorder()
        try await withServer(log: log, basePath: "/a/b") { address in
            for (target, status) in [("/a/b/ok", "200"), ("/ok", "200"), ("/a/ok", "404"), ("/a/b/none", "404")] {
                let client = try await WireClient.connected(to: address)
                try await client.send("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                #expect(await client.receivedAll().hasPrefix("HTTP/1.1 \(status) "), "\(target)")
            }
        }
        #expect(log.entries.map(\.path) == ["/ok", "/ok", "/a/ok", "/none"])
    }

    @Test(
        arguments: [
            ("/image?url=a&utm_source=x&w=1&fbclid=y", "/image?url=a&w=1"), ("/iiif/a?utm_medium=x", "/iiif/a"),
            ("/image?fbclid", "/image"), ("/?utm_a=1&&b", "/?&b"), ("/image?url=a?fbclid=1", nil),
            ("/image?url=a&w=1", nil), ("/image", nil), ("/image?", nil), ("/fbclid=1", nil),
            ("/image?FBCLID=1&utm=2&xfbclid=3", nil), ("/a?b=&utm_=c", "/a?b="),
        ] as [(String, String?)])
    func `Ignored parameters are removed, and nothing else changes`(target: String, expected: String?) {
        #expect(IgnoredParameters(["utm_*", "fbclid"]).removed(from: target) == expected)
        #expect(IgnoredParameters().removed(from: target) == nil)
    }

    @Test func `Routes see targets without the base path and ignored parameters`() async throws {
        let responder = TargetRecorder()
        try await withServer(basePath: "/img", ignored: ["gclid"], immediate: responder) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /img/ok?gclid=1&w=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.send("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            _ = await client.receivedAll()
        }
        #expect(responder.targets == ["/ok?w=1"])
    }

    @Test func `Routes see targets without the base path`() async throws {
        let responder = TargetRecorder()
        try await withServer(basePath: "/img", immediate: responder) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send("GET /img/ok?w=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.send("GET /ok?w=2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            _ = await client.receivedAll()
        }
        #expect(responder.targets == ["/ok?w=1"])
    }
}

/// Records what it is asked, and answers nothing.
private final class TargetRecorder: ImmediateResponder {
    private let asked = Mutex<[String]>([])

    var targets: [String] { asked.withLock(\.self) }

    func answer(to head: RequestHead) -> Answer? {
        asked.withLock { $0.append(head.target) }
        return nil
    }
}
