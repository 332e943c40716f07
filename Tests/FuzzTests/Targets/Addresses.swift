import Foundation
import NIOHTTP1
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

extension FuzzTests {
    @Test func `The host of a source is the host that every later parser sees`() {
        fuzzer.run("source-url", seeds: Self.urls, words: Self.urlWords) { input in
            guard let url = try? SourceURL(parsing: String(decoding: input, as: UTF8.self)) else { return }
            let canonical = url.canonical
            guard let again = try? SourceURL(parsing: canonical) else {
                throw Unheld(reason: "can't read '\(canonical)'")
            }
            try hold(again == url, "'\(canonical)' is another source")
            if let key = url.objectKey {
                let hasDots = key.split(separator: "/").contains { $0 == "." || $0 == ".." }
                try hold((1...1024).contains(key.utf8.count) && !key.utf8.contains(0) && !hasDots, "the key '\(key)'")
            }
            guard let host = url.host else { return }
            // The HTTP client parses the origin alone.
            let contacted = URL(string: url.origin)
            try hold(contacted?.absoluteString == url.origin, "Foundation changes '\(url.origin)'")
            try hold(
                contacted?.host(percentEncoded: true) == "\(host)",
                "'\(canonical)' has the host \(contacted?.host() ?? "-")")
            try hold(contacted?.port ?? url.scheme.defaultPort == url.port, "'\(canonical)' has another port")
            try hold(contacted?.user == nil, "'\(canonical)' has a user")
        }
    }

    @Test func `No text behind a short name leads out of its target`() throws {
        var map = SourceMap()
        let targets = ["a": "https://img.example.com/p/q/", "b": "s3://media/p/q/", "c": "local:///p/q/"]
        for (name, target) in targets { try map.add(name, target) }
        let seeds = ["a:x/y.jpg?w=1", "b:x%2Fy", "c:x", "A:../x", "b:..%2f", "a:\\..\\x", "c:%252e%252e/x", "a:..;/x"]
        let words = ["..", "%2e", "%2f", "%5c", "%25", "//", "\\", ";", "?", "#", "@", "https://", "\t"]
        fuzzer.run("source-map", seeds: seeds, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let source = try? map.source(text), source.spelling != source.url.canonical else { return }
            let target = targets[String(source.spelling.prefix(1))] ?? "-"
            var url = source.url.canonical
            try hold(url.hasPrefix(target), "'\(url)' is outside of \(target)")
            try hold((try? map.source(source.spelling))?.url == source.url, "'\(source.spelling)' is another source")
            // As a careless server would read it.
            for _ in 0..<4 {
                url = url.removingPercentEncoding ?? url
                let path = url.prefix { $0 != "?" }.dropFirst(target.count).replacing("\\", with: "/")
                try hold(!path.split(separator: "/").contains(".."), "'\(url)' leads upward")
            }
        }
    }

    @Test func `A redirect leads to a source that is its own canonical form`() throws {
        let base = try SourceURL(parsing: "https://example.com/a/b?c")
        fuzzer.run(
            "redirect", seeds: Self.urls + ["../x", "//127.1/", "?y", "#", "/\\10.0.0.1", "https:d"],
            words: Self.urlWords
        ) { input in
            guard let url = try? base.resolving(redirect: String(decoding: input, as: UTF8.self)) else { return }
            try hold((try? SourceURL(parsing: url.canonical)) == url, url.canonical)
        }
    }

    @Test func `An address is written as it is read`() {
        let seeds = ["127.0.0.1", "::1", "::ffff:10.0.0.1", "2001:db8:0:0:1::", "fe80::1%eth0", "10.0.0.0/8", "::/0"]
        fuzzer.run("address", seeds: seeds, words: ["::", ":", ".", "/"]) { input in
            let text = String(decoding: input, as: UTF8.self)
            if let address = IPAddress(text) {
                try hold(IPAddress(address.description) == address, address.description)
                _ = AddressPolicy().permits(address)
            }
            if let network = try? CIDR(parsing: text) {
                try hold((try? CIDR(parsing: network.description)) == network, network.description)
            }
        }
    }

    @Test func `A path below the local root has only harmless names`() {
        fuzzer.run("local-path", seeds: ["/a/b.jpg", "/%2e%2e/x", "/a//b", "/a/%252e"], words: ["/", "..", "%2f"]) {
            input in
            guard let path = try? LocalFile.components(of: String(decoding: input, as: UTF8.self)) else { return }
            for name in path {
                try hold(!["", ".", ".."].contains(name) && !name.contains("/") && !name.utf8.contains(0), name)
            }
        }
    }

    @Test func `A pattern for hosts matches or does not`() {
        fuzzer.run("glob", seeds: ["*.example.com\nimg.example.com", "a*b*c*d*e\naaaabbbb", "?\n?"]) { input in
            let parts = String(decoding: input, as: UTF8.self).split(separator: "\n", maxSplits: 1)
            guard parts.count == 2 else { return }
            _ = Glob(String(parts[0].prefix(300))).matches(parts[1].prefix(300))
        }
    }

    @Test func `The head of an answer is taken or refused, whatever its coding and length`() {
        let seeds = [
            "200\nContent-Length: 5\nContent-Encoding: gzip, identity", "302\nLocation: /x",
            "304\nContent-Encoding: br", "200\nContent-Length: -15", "200\nContent-Length: +15",
        ]
        fuzzer.run("head", seeds: seeds, words: ["Content-Encoding: ", "Content-Length: ", "identity", "gzip"]) {
            input in
            var lines = String(decoding: input, as: UTF8.self).split(separator: "\n").map(String.init)[...]
            let status = lines.popFirst().flatMap(Int.init) ?? 200
            let fields = lines.map { $0.split(separator: ":", maxSplits: 1).map(String.init) }.filter { $0.count == 2 }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: max(0, min(status, 999))),
                headers: HTTPHeaders(fields.map { ($0[0], $0[1]) }))
            guard case .content(let sizeHint, _) = ResponseAction(head, maxSourceBytes: 1000, isConditional: false)
            else {
                return
            }
            try hold((0...1000).contains(sizeHint), "a size of \(sizeHint)")
        }
    }

    private static let urls = [
        "https://user:pass@example.com:8443/a/../b?c=d#e", "http://0x7f.1/", "http:\\\\127.1", "http://[::1]:80/",
        "local:///a b", "s3://media/a%20b/%252e%252e/c", "s3://Media/a%3fb",
        "http://２１３０７０６４３３/", "http://exa%6dple.com", "http://bücher.example/", "http://a.b.:80/%zz?'\"<>", "HTTP:///x",
    ]
    private static let urlWords = [
        "http://", "https:", "s3://", "%2e", "//", "\\", "@", "[::", "]", "0x7f", "localhost", "xn--", "%2f", "%40",
        "127.0.0.1",
    ]
}
