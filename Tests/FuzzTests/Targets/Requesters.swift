import HTTPTypes
import Testing

@testable import DarkroomHTTPServer
@testable import DarkroomNetwork
@testable import DarkroomOrigin
@testable import DarkroomQuery
@testable import DarkroomWeb

extension FuzzTests {
    @Test func `What is signed is the same for every spelling of a request, and for no other request`() throws {
        let key = try SigningKey(id: "k1", secret: "a secret that is as long as it has to be".replacing(" ", with: "-"))
        let other = try SigningKey(id: "k2", secret: String(repeating: "x", count: 32))
        let keyring = Keyring([key, other])
        let seeds = [
            "url=https%3A%2F%2Fa.org%2F%C3%A9&w=400", "w=1&url=local:///a%20b&exp=1800000000", "a&b=&=c&%61=1",
        ]
        fuzzer.run("signed-request", seeds: seeds, words: ["&", "=", "%26", "%3D", "+", "%2B", "s=", "exp=", "\n"]) {
            input in
            guard let query = try? QueryString(parsing: String(decoding: input, as: UTF8.self)),
                (try? query.requireUniqueNames()) != nil
            else { return }
            let request = SignedRequest(path: "/image", parameters: query)
            let signature = key.sign(request)
            guard let again = try? QueryString(parsing: request.query) else { throw Unheld(reason: request.query) }
            let sent = SignedRequest(path: "/image", parameters: again)
            try hold(sent.text == request.text, "'\(request.text)' is '\(sent.text)' once it was sent")
            try hold(keyring.verify(sent, by: signature)?.key.id == "k1", "the signature of '\(request.text)' is none")
            let elsewhere = SignedRequest(path: "/info", parameters: query)
            try hold(keyring.verify(elsewhere, by: signature) == nil, "it is good at another path")
            var more = query
            more.pairs.append(QueryString.Pair(name: "another-one", value: nil))
            let larger = SignedRequest(path: "/image", parameters: more)
            try hold(keyring.verify(larger, by: signature) == nil, "it is good for more than was signed")
        }
    }

    @Test func `A signature that is not the key's own is none, however it is written`() throws {
        let key = try SigningKey(id: "k1", secret: String(repeating: "x", count: 32))
        let request = SignedRequest(path: "/image", parameters: try QueryString(parsing: "url=https://a.org/"))
        let right = key.sign(request)
        let seeds = [right.text, "k1.", ".", "k1.\(String(repeating: "A", count: 43))", right.text + "="]
        fuzzer.run("signature", seeds: seeds, words: [".", "k1", "=", "-", "_", "+", "/"]) { input in
            guard let signature = Signature(String(decoding: input, as: UTF8.self)) else { return }
            try hold(Signature(signature.text) == signature, "'\(signature.text)' is another one")
            let isTaken = Keyring([key]).verify(request, by: signature) != nil
            try hold(isTaken == (signature == right), "'\(signature.text)' is \(isTaken ? "" : "not ")taken")
        }
    }

    @Test func `Whom a proxy asks for is somebody it has named`() throws {
        let peer = try #require(IPAddress("10.0.0.1"))
        let proxies = TrustedProxies(networks: [try CIDR(parsing: "10.0.0.0/8")])
        let seeds = [
            "for=192.0.2.1;proto=http, for=\"[2001:db8::1]:4711\"", "for=\"_hidden\", for=unknown",
            "192.0.2.1, 10.0.0.2",
            "\"192.0.2.1\", [::1]:80", "for=10.0.0.3;For=192.0.2.9;;by=\"a\\\"b,c\"",
        ]
        let words = ["for=", "\"", "\\", ",", ";", "[", "]", ":", "10.0.0.9", "::ffff:10.0.0.1", "unknown", "_x"]
        fuzzer.run("forwarded", seeds: seeds, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            for name in ["Forwarded", "X-Forwarded-For"].compactMap({ HTTPField.Name($0) }) {
                guard HTTPField.isValidValue(text) else { return }
                let client = proxies.client(of: peer, [name: text])
                try hold(IPAddress(client.description) == client, "\(client)")
                // What the proxy itself wrote is at the end, where nobody can write before it.
                let known = proxies.client(of: peer, [name: "\(text), \(name == .forwarded ? "for=" : "")198.51.100.7"])
                let isClosed = text.utf8.count { $0 == UInt8(ascii: "\"") } == 0
                try hold(!isClosed || "\(known)" == "198.51.100.7", "the client passes as \(known)")
                let stranger = TrustedProxies(networks: []).client(of: peer, [name: text])
                try hold(stranger == peer, "a stranger passes as \(stranger)")
            }
        }
    }
}

extension HTTPField.Name {
    fileprivate static let forwarded = HTTPField.Name("Forwarded")
}
