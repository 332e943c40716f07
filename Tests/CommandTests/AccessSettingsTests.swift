import DarkroomHTTPServer
import DarkroomWeb
import Foundation
import Testing

@testable import DarkroomCommand

/// Keys, presets, sites, and when a server does not start.
struct AccessSettingsTests {
    private static let secret = "0123456789abcdef0123456789-secret"

    private func settings(_ flags: [SettingKey: String], file: String? = nil) async throws -> Settings {
        try Settings(try await SettingLayers(flags: flags, environment: [:], file: file))
    }

    private func refusal(_ flags: [SettingKey: String]) async throws -> String {
        do {
            _ = try await settings(flags)
            return ""
        } catch let error as SettingError {
            return error.description
        }
    }

    private func file(_ text: String) throws -> String {
        let url = try URL.temporaryFolder().appendingPathComponent("keys.json")
        try text.write(to: url, atomically: true, encoding: .utf8)
        return url.path
    }

    @Test func `keys come from the setting and from the file, in this order`() async throws {
        let path = try file(
            #"[{"id": "k3", "secret": "\#(Self.secret)", "hosts": ["*.a.org"], "presets": ["avatar"], "rate": "20/s"}]"#
        )
        let keys = try await settings([
            .signingKeys: "k1:\(Self.secret), k2:\(Self.secret):with:colons", .signingKeysFile: path,
            .presets: "avatar=w=96",
        ]).access.signingKeys
        #expect(keys.map(\.id) == ["k1", "k2", "k3"])
        #expect(keys[2].hosts == ["*.a.org"] && keys[2].presets == ["avatar"] && keys[2].rate == Rate("20/s"))
        #expect(keys[0].hosts.isEmpty && keys[0].presets == nil && keys[0].rate == nil)
    }

    @Test(arguments: [
        "secret-without-an-id-secret-without-an-id", "k1:short-secret", "k1:", ":\(secret)", "k 1:\(secret)",
        "k1:secret with blanks secret with blanks", "k1:sécret-sécret-sécret-sécret-sécret",
        "\(secret)-\(secret):\(secret)",
        "k1:\(secret),k1:\(secret)",
    ])
    func `a key that is none stops start-up, and its secret is not repeated`(value: String) async throws {
        let sentence = try await refusal([.signingKeys: value])
        #expect(sentence.contains("signing-keys"))
        #expect(!sentence.contains("cret-") && !sentence.contains("0123"))
    }

    @Test(arguments: [
        (#"{"id": "k1"}"#, "another type"), ("[", "no JSON"), (#"[{"secret": "S"}]"#, "[0]: 'id' is missing"),
        (#"[{"id": "k1"}]"#, "[0]: 'secret' is missing"),
        (#"[{"id": "k1", "secret": "S", "host": []}]"#, "'host' is no member"),
        (#"[{"id": "k1", "secret": 5}]"#, "[0].secret"),
        (#"[{"id": "k1", "secret": "S", "hosts": "a.org"}]"#, "[0].hosts"),
        (#"[{"id": "k1", "secret": "S", "hosts": []}]"#, "[0]: an empty list"),
        (#"[{"id": "k1", "secret": "S", "presets": ["hero"]}]"#, "no preset 'hero'"),
        (#"[{"id": "k1", "secret": "S", "rate": "fast"}]"#, "[0].rate"),
        (#"[{"id": "k 1", "secret": "S"}]"#, "[0]: the id"),
        (#"[{"id": "k1", "secret": "short"}]"#, "[0]: the secret"),
    ])
    func `a file of keys is read strictly, and its secrets are not repeated`(text: String, words: String) async throws {
        let path = try file(text.replacing("\"S\"", with: "\"\(Self.secret)\""))
        let sentence = try await refusal([.signingKeysFile: path])
        #expect(sentence.contains(path) && sentence.contains(words), "\(sentence)")
        #expect(!sentence.contains("0123"))
        #expect(try await refusal([.signingKeysFile: "/no/such/keys.json"]).contains("cannot be read"))
    }

    @Test func `presets are checked at start-up, and the bad one is named`() async throws {
        let good = "avatar=w=96&h=96&fit=cover, cut=crop=0%2C0%2C9%2C9"
        #expect(try await settings([.presets: good]).access.presets.names == ["avatar", "cut"])
        for (value, words) in [
            ("avatar", "NAME=QUERY"), ("avatar=w=0", "'avatar'"), ("avatar=width=9", "Did you mean"),
            ("a=w=1,a=w=2", "'a' is given twice"), ("a b=w=1", "name"), ("avatar=w=9000", "8192"),
        ] {
            let sentence = try await refusal([.presets: value])
            #expect(sentence.contains("presets") && sentence.contains(words), "\(sentence)")
        }
        #expect(try await refusal([.presetsOnly: "true"]).contains("presets-only"))
        let yaml = try file("presets: ['cut=crop=0,0,9,9', 'avatar=w=96']\n")
        #expect(try await settings([:], file: yaml).access.presets.names == ["avatar", "cut"])
    }

    @Test func `sites are written as browsers write them`() async throws {
        #expect(try await settings([.corsOrigins: "*"]).access.origins == .all)
        let listed = try await settings([.corsOrigins: "https://A.org:443, http://localhost:3000/"]).access.origins
        #expect(listed == .listed(["https://a.org", "http://localhost:3000"]))
        for value in ["a.org", "https://a.org/x", "*,https://a.org", "null", "https://*.a.org", "ftp://a.org"] {
            #expect(try await refusal([.corsOrigins: value]).contains("cors-origins"), "\(value)")
        }
    }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.7", "img.example.com", "::ffff:127.0.0.1", "127.1"])
    func `a server that everybody could use does not start, and the ways out are named`(host: String) async throws {
        let sentence = try await refusal([.host: host])
        for way in ["host", "signing-keys", "allow-hosts", "open-proxy=true"] { #expect(sentence.contains(way)) }
        #expect(try await refusal([.host: host, .allowHosts: "*"]) == sentence)
        #expect(try await refusal([.host: host, .openProxy: "false"]) == sentence)
        for (key, value) in [
            (SettingKey.signingKeys, "k1:\(Self.secret)"), (.allowHosts, "*.example.com"), (.openProxy, "true"),
        ] {
            #expect(try await refusal([.host: host, key: value]) == "")
        }
    }

    @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST"])
    func `on this machine alone a server starts as it is`(host: String) async throws {
        #expect(try await refusal([.host: host, .adminHost: host, .adminPort: "0"]) == "")
    }

    @Test func `an admin port that everybody could use does not start without a token`() async throws {
        let open: [SettingKey: String] = [.adminPort: "0", .adminHost: "0.0.0.0"]
        let sentence = try await refusal(open)
        #expect(sentence.contains("admin-host") && sentence.contains("admin-token"))
        #expect(try await refusal(open.merging([.adminToken: "correct-horse-battery"]) { $1 }) == "")
        #expect(try await refusal([.adminHost: "0.0.0.0"]) == "")
    }
}
