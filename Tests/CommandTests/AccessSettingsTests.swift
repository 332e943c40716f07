import DarkroomQuery
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomHTTPServer
@testable import DarkroomWeb

/// Signing keys, presets, CORS origins, and the refusal to be an open proxy.
struct AccessSettingsTests {
    private static let secret = "0123456789abcdef0123456789-secret"

    private func file(_ text: String) throws -> String { try URL.temporaryFile("keys.json", text).path }

    @Test func `Keys come from the setting and from the file, in this order`() throws {
        let path = try file(
            #"[{"id": "k3", "secret": "\#(Self.secret)", "hosts": ["*.a.org"], "presets": ["avatar"], "rate": "20/s"}]"#
        )
        let access = try Settings.reading([
            "signing-keys": "k1:\(Self.secret), k2:\(Self.secret):with:colons", "signing-keys-file": path,
            "presets": "avatar=w=96",
        ]).accessRules
        let keys = access.signingKeys
        #expect(keys.map(\.id) == ["k1", "k2", "k3"])
        #expect(keys[2].hosts == ["*.a.org"] && keys[2].presets == ["avatar"])
        #expect(keys[0].hosts.isEmpty && keys[0].presets == nil)
        #expect(access.keyRates == ["k3": try #require(Rate("20/s"))])
    }

    @Test func `Quotas of keys are read from the file and from YAML`() throws {
        let quotas = KeyQuotas(
            cacheBytes: 2 << 30, processor: Allowance(amount: 90, period: .seconds(3600)),
            egress: Allowance(amount: 10_737_418_240, period: .seconds(86_400)))
        let path = try file(
            #"[{"id": "k1", "secret": "\#(Self.secret)", "cache": "2GiB", "processor": "90s/h", "egress": "10GiB/d"}]"#)
        #expect(try Settings.reading(["signing-keys-file": path]).accessRules.keyQuotas == ["k1": quotas])
        let yaml = """
            signing-keys:
              k1:
                secret: \(Self.secret)
                cache: 2GiB
                processor: 90s/h
                egress: 10GiB/d
            """
        #expect(try Settings.reading(file: yaml).accessRules.keyQuotas == ["k1": quotas])
        let plain = try Settings.reading(["signing-keys": "k1:\(Self.secret)"]).accessRules
        #expect(plain.keyQuotas == ["k1": KeyQuotas()])
    }

    @Test(arguments: [
        "secret-without-an-id-secret-without-an-id", "k1:short-secret", "k1:", ":\(secret)", "k 1:\(secret)",
        "k1:secret with blanks secret with blanks", "k1:sécret-sécret-sécret-sécret-sécret",
        "\(secret)-\(secret):\(secret)",
        "k1:\(secret),k1:\(secret)",
    ])
    func `An invalid key stops startup, and its secret is not repeated`(value: String) throws {
        let sentence = try Settings.refusal(["signing-keys": value])
        #expect(sentence.contains("signing-keys"))
        #expect(!sentence.contains("cret-") && !sentence.contains("0123"))
    }

    @Test(arguments: [
        (#"{"id": "k1"}"#, "JSON array"), ("[", "not valid JSON"), (#"[{"secret": "S"}]"#, "[0]: 'id' is missing"),
        (#"[{"id": "k1"}]"#, "[0]: 'secret' is missing"),
        (#"[{"id": "k1", "secret": "S", "host": []}]"#, "'host' is not a member"),
        (#"[{"id": "k1", "secret": 5}]"#, "[0].secret"),
        (#"[{"id": "k1", "secret": "S", "hosts": "a.org"}]"#, "[0].hosts"),
        (#"[{"id": "k1", "secret": "S", "hosts": []}]"#, "[0]: an empty list"),
        (#"[{"id": "k1", "secret": "S", "presets": ["hero"]}]"#, "no preset 'hero'"),
        (#"[{"id": "k1", "secret": "S", "rate": "fast"}]"#, "[0].rate"),
        (#"[{"id": "k1", "secret": "S", "cache": "much"}]"#, "[0].cache must be a number of bytes"),
        (#"[{"id": "k1", "secret": "S", "cache": 5}]"#, "[0].cache must be a text"),
        (#"[{"id": "k1", "secret": "S", "processor": "90/h"}]"#, "[0].processor must be a time"),
        (#"[{"id": "k1", "secret": "S", "processor": "0s/h"}]"#, "[0].processor must be a time"),
        (#"[{"id": "k1", "secret": "S", "egress": "10GiB"}]"#, "[0].egress must be a number of bytes per m, h or d"),
        (#"[{"id": "k1", "secret": "S", "egress": "0/d"}]"#, "[0].egress must be a number of bytes per m, h or d"),
        (#"[{"id": "k1", "secret": "S", "egress": "1GiB/w"}]"#, "[0].egress must be a number of bytes per m, h or d"),
        (#"[{"id": "k 1", "secret": "S"}]"#, "[0]: the id"),
        (#"[{"id": "k1", "secret": "short"}]"#, "[0]: the secret"),
    ])
    func `A key file is read strictly, and its secrets are not repeated`(text: String, words: String) throws {
        let path = try file(text.replacing("\"S\"", with: "\"\(Self.secret)\""))
        let sentence = try Settings.refusal(["signing-keys-file": path])
        #expect(sentence.contains(path) && sentence.contains(words), "\(sentence)")
        #expect(!sentence.replacing(path, with: "").contains("0123"))
        #expect(try Settings.refusal(["signing-keys-file": "/no/such/keys.json"]).contains("cannot be read"))
    }

    @Test func `Presets are checked at startup, and an invalid one is named`() throws {
        let good = "avatar=w=96&h=96&fit=cover, cut=crop=0%2C0%2C9%2C9"
        #expect(try Settings.reading(["presets": good]).accessRules.presets.names == ["avatar", "cut"])
        for (value, words) in [
            ("avatar", "NAME=QUERY"), ("avatar=w=0", "'avatar'"), ("avatar=width=9", "Did you mean"),
            ("a=w=1,a=w=2", "'a' is defined twice"), ("a b=w=1", "name"), ("avatar=w=9000", "8192"),
        ] {
            let sentence = try Settings.refusal(["presets": value])
            #expect(sentence.contains("presets") && sentence.contains(words), "\(sentence)")
        }
        #expect(try Settings.refusal(["presets-only": "true"]).contains("presets-only"))
        let yaml = "presets: ['cut=crop=0,0,9,9', 'avatar=w=96']\n"
        #expect(try Settings.reading(file: yaml).accessRules.presets.names == ["avatar", "cut"])
    }

    @Test func `CORS origins are normalized to the form that browsers send`() throws {
        #expect(try Settings.reading(["cors-origins": "*"]).accessRules.origins == .all)
        let listed = try Settings.reading(["cors-origins": "https://A.org:443, http://localhost:3000/"]).accessRules
            .origins
        #expect(listed == .listed(["https://a.org", "http://localhost:3000"]))
        for value in ["a.org", "https://a.org/x", "*,https://a.org", "null", "https://*.a.org", "ftp://a.org"] {
            #expect(try Settings.refusal(["cors-origins": value]).contains("cors-origins"), "\(value)")
        }
    }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.7", "img.example.com", "::ffff:127.0.0.1", "127.1"])
    func `An unintended open proxy does not start, and the remedies are named`(host: String) throws {
        let sentence = try Settings.refusal(["host": host])
        for way in ["host", "signing-keys", "allow-hosts", "open-proxy=true"] { #expect(sentence.contains(way)) }
        #expect(try Settings.refusal(["host": host, "allow-hosts": "*"]) == sentence)
        #expect(try Settings.refusal(["host": host, "open-proxy": "false"]) == sentence)
        for (key, value) in [
            ("signing-keys", "k1:\(Self.secret)"), ("allow-hosts", "*.example.com"), ("open-proxy", "true"),
        ] {
            #expect(try Settings.refusal(["host": host, key: value]) == "")
        }
    }

    @Test func `Uploads beyond loopback require keys or an intended open proxy, and hosts do not limit them`() throws {
        let uploads = ["host": "0.0.0.0", "uploads": "true"]
        let sentence = try Settings.refusal(uploads.merging(["allow-hosts": "*.example.com"]) { $1 })
        for way in ["host", "uploads=true", "signing-keys", "open-proxy=true"] { #expect(sentence.contains(way)) }
        for (key, value) in [("signing-keys", "k1:\(Self.secret)"), ("open-proxy", "true"), ("host", "127.0.0.1")] {
            #expect(try Settings.refusal(uploads.merging([key: value]) { $1 }) == "")
        }
    }

    @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST"])
    func `A server on a loopback address starts without access settings`(host: String) throws {
        #expect(try Settings.refusal(["host": host, "admin-host": host, "admin-port": "0"]) == "")
    }

    @Test func `An admin port beyond loopback requires a token`() throws {
        let open: [String: String] = ["admin-port": "0", "admin-host": "0.0.0.0"]
        let sentence = try Settings.refusal(open)
        #expect(sentence.contains("admin-host") && sentence.contains("admin-token"))
        #expect(try Settings.refusal(open.merging(["admin-token": "correct-horse-battery"]) { $1 }) == "")
        #expect(try Settings.refusal(["admin-host": "0.0.0.0"]) == "")
        let file = try file("correct-horse-battery\n")
        #expect(try Settings.refusal(open.merging(["admin-token-file": file]) { $1 }) == "")
    }

    @Test func `The admin token may be the text of a file`() throws {
        let path = try file(" correct-horse-battery\n")
        let settings = try Settings.reading(["admin-token-file": path])
        #expect(settings.adminToken == "correct-horse-battery")
        #expect(settings.webConfiguration.adminToken == "correct-horse-battery")
        for (flags, words) in [
            (["admin-token-file": try file("short-secret\n")], "at least 16"),
            (["admin-token-file": path, "admin-token": "another-horse-battery"], "give one of the two"),
            (["admin-token-file": "/no/such/token"], "/no/such/token"),
        ] {
            let sentence = try Settings.refusal(flags)
            #expect(sentence.contains("admin-token-file") && sentence.contains(words), "\(sentence)")
            #expect(!sentence.contains("secret") && !sentence.contains("battery"))
        }
    }

    @Test func `A reload takes what a running server can change, and names the rest`() throws {
        let settings = try Settings.reading(file: "rate-limit: 9/h\nqueue-depth: 5\notlp-headers: a=1\n")
        let sources = { (text: String) in
            try SettingSources(flags: [:], environment: [:], file: try URL.temporaryFile("new.yaml", text).path)
        }
        let text = "rate-limit: 8/h\nqueue-depth: 6\notlp-headers: a=2\nallow-hosts: a.org\n"
        let (new, unchanged) = try settings.reloaded(from: sources(text))
        #expect(new.access.rateLimit == Rate("8/h") && new.origins.allowHosts == ["a.org"])
        #expect(new.processing.queueDepth == 5 && unchanged == ["queue-depth", "otlp-headers"])
        #expect(throws: SettingError.self) { try settings.reloaded(from: sources("queue-depth: x\n")) }
    }
}
