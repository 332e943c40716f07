import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomMachine
import DarkroomOrigin
import DarkroomPipeline
import DarkroomRequests
import DarkroomStore
import DarkroomWeb
import DarkroomWorkers
import Foundation
import Testing

@testable import DarkroomCommand

struct SettingsTests {
    @Test func `The defaults equal what the help states`() throws {
        let settings = try Settings.reading()
        #expect(settings.listeners.host == "127.0.0.1")
        #expect(settings.listeners.port == 8080)
        #expect(settings.cache.diskBytes == 10 << 30)
        #expect(settings.cache.memoryBytes == ResourceDefaults.current.memoryCacheBytes)
        #expect(settings.limits.maxSourceBytes == 50 << 20)
        #expect(settings.pixelLimits == PixelLimits())
        #expect(settings.origins.allowPorts == [80, 443])
        #expect(
            settings.origins.allowHosts.isEmpty && settings.origins.allowNetworks.isEmpty
                && settings.origins.localRoot == nil)
        #expect(settings.origins.connectTimeout == .seconds(5))
        #expect(settings.origins.downloadTimeout == .seconds(15))
        #expect(settings.limits.requestTimeout == .seconds(30))
        #expect(settings.processing.pixelWorkers == ResourceDefaults.current.pixelWorkers)
        #expect(settings.processing.workerMemory == 2 << 30)
        #expect(settings.processing.isolation == .auto && settings.processing.quarantine == .seconds(3600))
        #expect(settings.processing.queueDepth == 64)
        #expect(settings.processing.memoryBudget == PipelineConfiguration().memoryBudgetBytes)
        #expect(settings.processing.pixelWorkers == PipelineConfiguration().pixelWorkers)
        #expect(settings.transferBytes == settings.processing.memoryBudget / 2)
        #expect(settings.origins.downloadsPerHost == 6)
        #expect(settings.origins.maxDownloads == 64)
        #expect(settings.origins.insecureTLSHosts.isEmpty)
        #expect(settings.cache.decodedBytes == ResourceDefaults.current.decodedCacheBytes)
        #expect(settings.cache.maxAge == nil)
        #expect(settings.freshnessPolicy == FreshnessPolicy())
        #expect(settings.freshness.variantMaxAge == .seconds(365 * 86_400))
        #expect(!settings.access.allowGPS)
        #expect(settings.access.adminToken == nil && settings.listeners.adminPort == nil)
        #expect(settings.accessRules == Access() && !settings.access.openProxy)
        #expect(settings.listeners.adminHost == "127.0.0.1")
        #expect(settings.clientLimits == .default)
        #expect(settings.logging.format == .text && settings.logging.hits)
    }

    /// A file of one key.
    private static let keysFile: String = {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString).json")
        try? Data(#"[{"id": "k2", "secret": "0123456789abcdef0123456789abcdef", "rate": "20/s"}]"#.utf8).write(to: file)
        return file.path
    }()

    private static let tokenFile: String = {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        try? Data("correct-horse-battery\n".utf8).write(to: file)
        return file.path
    }()

    private static let secretFile: String = {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
        try? Data("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n".utf8).write(to: file)
        return file.path
    }()

    /// A value for each key that differs from its default.
    static let others: [String: String] = [
        "host": "localhost", "port": "0", "admin-host": "localhost", "admin-port": "0",
        "trusted-proxies": "127.0.0.0/8", "rate-limit": "1000/s", "max-connections": "3000",
        "idle-timeout": "9s", "write-timeout": "9s", "shutdown-grace": "9s",
        "unix-socket": "/tmp/x.sock", "base-path": "/img", "cache-dir": "/tmp/x", "cache-disk-bytes": "1GiB",
        "cache-memory-bytes": "0",
        "cache-decoded-bytes": "0", "cache-max-age": "7d",
        "cache-key-drop-query": "*.a.org=utm_*", "respect-origin": "false", "default-fresh": "0", "min-fresh": "5m",
        "stale-while-revalidate": "1m", "stale-if-error": "0s", "variant-max-age": "90s",
        "failure-memory": "false",
        "allow-gps": "true", "uploads": "true",
        "admin-token": "correct-horse-battery", "admin-token-file": tokenFile,
        "otlp-endpoint": "http://collector:4318", "otlp-headers": "authorization=Bearer%20abc",
        "otlp-sample-ratio": "0.5",
        "signing-keys": "k1:0123456789abcdef0123456789abcdef", "signing-keys-file": keysFile,
        "compat-base-url": "https://a.org/", "imgproxy-keys": "736563726574:68656C6C6F",
        "imgproxy-keys-file": "/tmp/pairs",
        "imgproxy-presets": "thumb=rs:fill:9:9",
        "imgproxy-frames": "9", "imgproxy-watermark": "logo",
        "imgproxy-formats": "avif,webp",
        "presets": "avatar=w=96&h=96&fit=cover,cut=crop=0%2C0%2C9%2C9", "presets-only": "true", "open-proxy": "true",
        "cors-origins": "https://www.example.com,http://localhost:3000",
        "public-url": "https://img.example.com",
        "insecure-tls-hosts": "*.c.org",
        "local-root": "/tmp", "s3-endpoint": "http://localhost:9000", "s3-region": "eu-central-1",
        "s3-path-style": "false", "shared-store": "s3://media/darkroom", "shared-store-timeout": "300ms",
        "shared-store-originals": "false", "purge-poll": "1s",
        "source-map": "cdn=https://img.example.com/", "s3-sources": "media=media-bucket/a/",
        "s3-stores": "minio=http://minio:9000?profile=minio",
        "allow-networks": "127.0.0.0/8", "allow-hosts": "*.b.org", "allow-ports": "8080", "max-source-bytes": "512KiB",
        "max-source-pixels": "1000", "max-animation-pixels": "70000000", "max-output-side": "400",
        "max-output-pixels": "9000", "max-processing-time": "3s", "connect-timeout": "500ms",
        "download-timeout": "9s",
        "request-timeout": "2m", "pixel-workers": "7", "worker-memory": "1GiB",
        "isolation": "none", "quarantine": "0",
        "queue-depth": "1", "memory-budget": "100MiB",
        "damaged": "show", "gamut": "source", "ai-label": "top-left", "faces": "true",
        "ignored-parameters": "utm_*,fbclid",
        "missing-max-age": "5s",
        "downloads-per-host": "2", "max-downloads": "8", "log-level": "debug",
        "log-format": "logfmt", "log-hits": "false", "log-sources": "path", "playground": "false",
        "allow-robots": "true", "compat": "wsrv",
        "marks": "logo=https://example.com/logo.png", "avif-effort": "4",
        "formats": "webp,jxl", "avif-budget": "1s",
        "client-hints": "true", "iiif": "true", "response-tags": "fastly",
        "purge-to": "varnish=http://edge:6081/;method=BAN,webhook=https://hooks.example/x;secret-file=\(secretFile)",
        "thumbor-key": "my-security-key", "thumbor-key-file": tokenFile, "thumbor-signature-type": "sha256",
        "thumbor-signature-length": "40",
        "origin-fields": "img.example.com=Referer: https://example.com/",
        "forbidden-is-missing": "s3://media,img.example.com",
    ]

    @Test(arguments: SettingsTable.rows.map(\.name))
    func `Each setting is read from its flag, from the environment and from the file`(key: String) throws {
        let value = try #require(Self.others[key])
        var companions: [String: String] = [:]
        if key == "max-output-pixels" { companions["max-output-side"] = "1" }
        if key == "presets-only" { companions["presets"] = "avatar=w=96" }
        if key == "purge-to" { companions["response-tags"] = "xkey" }
        let byDefault = try Settings.reading(companions)
        let flag = try Settings.reading(companions.merging([key: value]) { $1 })
        let fromVariable = try Settings.reading(companions, environment: [variable(key): value])
        let file = try Settings.reading(companions, file: "\(key): \"\(value)\"\n")
        #expect(flag.summary != byDefault.summary)
        #expect(fromVariable.summary == flag.summary)
        #expect(file.summary == flag.summary)
    }

    @Test(arguments: [
        ("5", 5), ("5B", 5), ("2KiB", 2048), ("3MiB", 3 << 20), ("1GiB", 1 << 30),
    ])
    func `Bytes take binary units`(text: String, bytes: Int) throws {
        #expect(try Settings.reading(["max-source-bytes": text]).limits.maxSourceBytes == bytes)
    }

    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("3s", .seconds(3)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
        ("7d", .seconds(604_800)),
    ])
    func `Durations take units`(text: String, duration: Duration) throws {
        #expect(try Settings.reading(["variant-max-age": text]).freshness.variantMaxAge == duration)
    }

    @Test(arguments: ["default-fresh", "min-fresh", "stale-while-revalidate", "stale-if-error", "variant-max-age"])
    func `Some durations may be zero`(key: String) throws {
        let seconds = try Settings.reading([key: "0s"]).summary
        #expect(try Settings.reading([key: "0"]).summary == seconds)
        #expect(try Settings.reading(file: "\(key): 0\n").summary == seconds)
        #expect(try Settings.reading([key: "1ms"]).summary != seconds)
        #expect(try Settings.refusal([key: "1"]).contains(key))
        #expect(try Settings.refusal([key: "0y"]).contains(key))
        #expect(try Settings.refusal([key: "-1s"]).contains(key))
    }

    @Test func `Only with a shared store do records stay longer on disk than images`() throws {
        #expect(try !Settings.reading([:]).diskConfiguration.keepsRecordsLonger)
        #expect(try Settings.reading(["shared-store": "s3://media/darkroom"]).diskConfiguration.keepsRecordsLonger)
    }

    @Test(arguments: [("true", true), ("1", true), ("false", false), ("0", false)])
    func `Booleans are words or digits, in the file too`(text: String, value: Bool) throws {
        #expect(try Settings.reading(["respect-origin": text]).freshness.respectOrigin == value)
        #expect(try Settings.reading(file: "respect-origin: \(text)\n").freshness.respectOrigin == value)
    }

    @Test(arguments: [
        "short-secret-15", "secret with blanks in it", "sécret-with-an-accent", "secret-\u{7}-and-a-bell",
    ])
    func `A token that cannot be sent or is too short is refused without being repeated`(token: String) throws {
        for sentence in [
            try Settings.refusal(["admin-token": token]),
            try Settings.refusal(environment: [variable("admin-token"): token]),
            try Settings.refusal(file: "admin-token: \"\(token.filter { $0 != "\u{7}" })\"\n" + "port: x\n"),
        ] {
            #expect(!sentence.isEmpty)
            #expect(!sentence.contains("cret"))
        }
        #expect(try Settings.reading(["admin-token": "exactly-16-chars"]).access.adminToken == "exactly-16-chars")
    }

    @Test(arguments: [
        ("https://img.example.com", "https://img.example.com"),
        ("https://IMG.example.com:443/", "https://img.example.com"),
        ("http://127.0.0.1:8080/pictures//", "http://127.0.0.1:8080/pictures"),
    ])
    func `A public URL has one spelling, without a trailing slash`(text: String, address: String) throws {
        #expect(try Settings.reading(["public-url": text]).listeners.publicURL == address)
    }

    @Test func `A refusal of another setting does not repeat the token`() throws {
        let flags: [String: String] = ["admin-token": "correct-horse-battery"]
        for (key, value) in [("port", "x"), ("connect-timeout", "20s"), ("local-root", "/no/such/folder")] {
            let sentence = try Settings.refusal(flags.merging([key: value]) { $1 })
            #expect(!sentence.isEmpty)
            #expect(!sentence.contains("horse"))
        }
    }

    @Test(arguments: [
        ("port", "99999"), ("unix-socket", ""), ("unix-socket", String(repeating: "a", count: 104)),
        ("admin-port", "65536"), ("admin-port", ""), ("admin-host", ""), ("port", "x"),
        ("max-source-bytes", "5MB"), ("max-source-bytes", "-1"),
        ("max-source-bytes", "0"), ("max-source-bytes", "99999999999GiB"), ("connect-timeout", "5"),
        ("connect-timeout", "0s"),
        ("allow-networks", "10.0.0.1/8"), ("allow-networks", "nonsense"), ("allow-ports", "80,http"),
        ("damaged", "maybe"), ("gamut", "rec2020"), ("ai-label", "left"),
        ("pixel-workers", "0"), ("worker-memory", "1MiB"), ("isolation", "some"),
        ("quarantine", "1"),
        ("log-level", "loud"),
        ("log-format", "xml"), ("log-hits", "no"), ("cache-key-drop-query", "utm_*"), ("host", ""),
        ("cache-decoded-bytes", "-1"),
        ("cache-max-age", "0s"),
        ("cache-max-age", ""), ("respect-origin", "yes"),
        ("allow-gps", "yes"), ("public-url", ""), ("public-url", "img.example.com"),
        ("public-url", "ftp://a.org"),
        ("public-url", "https://a.org/?x"), ("public-url", "https://a.org/#x"), ("public-url", "https://me@a.org"),
        ("public-url", "local:///a"),
        ("admin-token", ""),
        ("local-root", "/no/such/folder"), ("trusted-proxies", "10.0.0.1/8"), ("rate-limit", "20"), ("rate-limit", ""),
        ("max-connections", "0"),
        ("idle-timeout", "5"), ("write-timeout", "-1s"), ("shutdown-grace", "9"),
    ])
    func `An invalid value is refused with the name of its setting`(key: String, value: String) throws {
        #expect(try Settings.refusal([key: value]).contains(key))
        let sentence = try Settings.refusal(environment: [variable(key): value])
        #expect(sentence.contains(variable(key)) || sentence.contains(key))
    }

    @Test(arguments: [
        ["admin-port": "8080"], ["connect-timeout": "20s"], ["download-timeout": "40s"], ["downloads-per-host": "65"],
        ["max-source-pixels": "130000000"], ["max-output-pixels": "10"],
    ])
    func `An impossible combination is refused with the names of both settings`(flags: [String: String]) throws {
        let sentence = try Settings.refusal(flags)
        #expect(sentence.contains(try #require(flags.keys.first)))
        #expect(sentence.contains(" and "))
    }
}
