import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomPipeline
import DarkroomStore
import DarkroomTransforms
import DarkroomWeb
import DarkroomWorkers
import Foundation
import Testing

@testable import DarkroomCommand

struct SettingsTests {
    private func settings(
        flags: [SettingKey: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) async throws -> Settings {
        var path: String?
        if let file {
            let url = try URL.temporaryFolder().appendingPathComponent("darkroom.yaml")
            try file.write(to: url, atomically: true, encoding: .utf8)
            path = url.path
        }
        return try Settings(try await SettingLayers(flags: flags, environment: environment, file: path))
    }

    private func refusal(
        flags: [SettingKey: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) async throws -> String {
        do {
            _ = try await settings(flags: flags, environment: environment, file: file)
            return ""
        } catch let error as SettingError {
            return error.description
        }
    }

    @Test func `The defaults are those that the help states`() async throws {
        let settings = try await settings()
        #expect(settings.host == "127.0.0.1")
        #expect(settings.port == 8080)
        #expect(settings.cacheDiskBytes == 10 << 30)
        #expect(settings.cacheMemoryBytes == 256 << 20)
        #expect(settings.maxSourceBytes == 50 << 20)
        #expect(settings.limits == PixelLimits())
        #expect(settings.allowPorts == [80, 443])
        #expect(settings.allowHosts.isEmpty && settings.allowNetworks.isEmpty && settings.localRoot == nil)
        #expect(settings.connectTimeout == .seconds(5))
        #expect(settings.downloadTimeout == .seconds(15))
        #expect(settings.requestTimeout == .seconds(30))
        #expect(settings.decoders.workers == ProcessInfo.processInfo.activeProcessorCount)
        #expect(settings.decoders.memoryBytes == 2 << 30)
        #expect(settings.decoders.isolation == .auto && settings.decoders.quarantine == .seconds(3600))
        #expect(settings.queueDepth == 64)
        #expect(settings.decoders.memoryBudgetBytes == PipelineConfiguration().memoryBudgetBytes)
        #expect(settings.downloads.maxBytes == settings.decoders.memoryBudgetBytes / 2)
        #expect(settings.prefetchConcurrency == 2)
        #expect(settings.downloads.maxPerHost == 6)
        #expect(settings.downloads.max == 64)
        #expect(settings.maxRedirects == 5)
        #expect(settings.downloads.order == .fifo)
        #expect(settings.insecureTLSHosts.isEmpty)
        #expect(settings.cacheDecodedBytes == 128 << 20)
        #expect(settings.cacheMemoryLowWaterPercent == 60)
        #expect(settings.cacheMaxAge == nil && settings.cacheExpireBy == .access)
        #expect(settings.freshness == FreshnessPolicy())
        #expect(settings.variantMaxAge == .seconds(365 * 86_400))
        #expect(
            !settings.allowLongerMaxAge && !settings.allowForcedRefresh && !settings.allowGPS
                && !settings.continueInBackground)
        #expect(settings.adminToken == nil && settings.adminPort == nil)
        #expect(settings.access == Access() && !settings.openProxy)
        #expect(settings.adminHost == "127.0.0.1")
        #expect(settings.clientLimits == ClientLimits())
        #expect(settings.fallbackStatus == 200)
        #expect(settings.resampling == .fast)
        #expect(settings.logFormat == .text)
    }

    /// A file of one key.
    private static let keysFile: String = {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString).json")
        try? Data(#"[{"id": "k2", "secret": "0123456789abcdef0123456789abcdef", "rate": "20/s"}]"#.utf8).write(to: file)
        return file.path
    }()

    /// A value for each key that differs from its default.
    static let others: [SettingKey: String] = [
        .host: "localhost", .port: "0", .adminHost: "localhost", .adminPort: "0",
        .trustedProxies: "127.0.0.0/8", .rateLimit: "1000/s", .maxConnections: "3000",
        .maxConnectionsPerClient: "900", .headerTimeout: "9s", .bodyTimeout: "9s", .idleTimeout: "9s",
        .writeTimeout: "9s", .shutdownGrace: "9s",
        .cacheDir: "/tmp/x", .cacheDiskBytes: "1GiB", .cacheMemoryBytes: "0",
        .cacheMemoryLowWater: "0", .cacheDecodedBytes: "0", .cacheMaxAge: "7d", .cacheExpireBy: "creation",
        .cacheKeyDropQuery: "*.a.org=utm_*", .respectOrigin: "false", .defaultFresh: "0", .minFresh: "5m",
        .maxFresh: "30d", .staleWhileRevalidate: "1m", .staleIfError: "0s", .variantMaxAge: "90s",
        .allowLongerMaxAge: "true", .allowForcedRefresh: "1", .allowGPS: "true", .adminToken: "correct-horse-battery",
        .signingKeys: "k1:0123456789abcdef0123456789abcdef", .signingKeysFile: keysFile,
        .presets: "avatar=w=96&h=96&fit=cover,cut=crop=0%2C0%2C9%2C9", .presetsOnly: "true", .openProxy: "true",
        .corsOrigins: "https://www.example.com,http://localhost:3000",
        .fallbackStatus: "404", .publicURL: "https://img.example.com", .continueInBackground: "true",
        .insecureTLSHosts: "*.c.org", .downloadOrder: "lifo",
        .localRoot: "/tmp",
        .allowNetworks: "127.0.0.0/8", .allowHosts: "*.b.org", .allowPorts: "8080", .maxSourceBytes: "512KiB",
        .maxSourcePixels: "1000", .maxAnimationPixels: "70000000", .maxFrames: "9", .maxOutputSide: "400",
        .maxOutputPixels: "9000", .maxRedirects: "0", .connectTimeout: "500ms", .downloadTimeout: "9s",
        .requestTimeout: "2m", .pixelWorkers: "7", .workerMemory: "1GiB", .isolation: "none", .quarantine: "0",
        .queueDepth: "1", .memoryBudget: "100MiB", .prefetchConcurrency: "9", .resample: "linear",
        .downloadsPerHost: "2", .maxDownloads: "8", .maxInFlightBytes: "1", .logLevel: "debug", .logFormat: "json",
    ]

    @Test(arguments: SettingKey.allCases)
    func `Each setting is heard as a flag, from the environment and from the file`(key: SettingKey) async throws {
        let value = try #require(Self.others[key])
        var companions: [SettingKey: String] = [:]
        if key == .maxOutputPixels { companions[.maxOutputSide] = "1" }
        if key == .presetsOnly { companions[.presets] = "avatar=w=96" }
        let standard = try await settings(flags: companions)
        let flag = try await settings(flags: companions.merging([key: value]) { $1 })
        let variable = try await settings(flags: companions, environment: [key.environmentName: value])
        let file = try await settings(flags: companions, file: "\(key.name): \"\(value)\"\n")
        #expect(flag != standard)
        #expect(variable == flag)
        #expect(file == flag)
    }

    @Test func `A flag goes before the environment, that before the file, that before the default`() async throws {
        let file = "port: 3\nqueue-depth: 3\nmax-redirects: 3\n"
        let environment = ["DARKROOM_PORT": "2", "DARKROOM_QUEUE_DEPTH": "2"]
        let settings = try await settings(flags: [.port: "1"], environment: environment, file: file)
        #expect(settings.port == 1)
        #expect(settings.queueDepth == 2)
        #expect(settings.maxRedirects == 3)
        #expect(settings.downloads.max == 64)
    }

    @Test func `Lists are given with commas or as a YAML sequence`() async throws {
        let commas = try await settings(flags: [.allowHosts: "a.org, *.b.org", .allowPorts: "80,8080"])
        let sequence = try await settings(file: "allow-hosts: [a.org, '*.b.org']\nallow-ports:\n  - 80\n  - 8080\n")
        #expect(commas.allowHosts == ["a.org", "*.b.org"])
        #expect(sequence.allowHosts == commas.allowHosts)
        #expect(sequence.allowPorts == [80, 8080])
        #expect(try await settings(file: "allow-hosts: [a.org]\n").allowHosts == ["a.org"])
        #expect(try await settings(file: "# nothing but a comment\n").allowHosts.isEmpty)
    }

    @Test func `Rules for the cache key may list several names`() async throws {
        let settings = try await settings(flags: [.cacheKeyDropQuery: "*.a.org=utm_*,token,b.org=*"])
        #expect(
            settings.dropRules == [
                .init(hostPattern: "*.a.org", parameterPatterns: ["utm_*", "token"]),
                .init(hostPattern: "b.org", parameterPatterns: ["*"]),
            ])
    }

    @Test(arguments: [
        ("5", 5), ("5B", 5), ("2KiB", 2048), ("3MiB", 3 << 20), ("1GiB", 1 << 30),
    ])
    func `Bytes take binary units`(text: String, bytes: Int) async throws {
        #expect(try await settings(flags: [.maxSourceBytes: text]).maxSourceBytes == bytes)
    }

    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("3s", .seconds(3)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
        ("7d", .seconds(604_800)),
    ])
    func `Durations take units`(text: String, duration: Duration) async throws {
        #expect(try await settings(flags: [.variantMaxAge: text]).variantMaxAge == duration)
    }

    @Test(arguments: [SettingKey.defaultFresh, .minFresh, .staleWhileRevalidate, .staleIfError, .variantMaxAge])
    func `Some durations may be none at all`(key: SettingKey) async throws {
        let seconds = try await settings(flags: [key: "0s"])
        #expect(try await settings(flags: [key: "0"]) == seconds)
        #expect(try await settings(file: "\(key.name): 0\n") == seconds)
        #expect(try await settings(flags: [key: "1ms"]) != seconds)
        #expect(try await refusal(flags: [key: "1"]).contains(key.name))
        #expect(try await refusal(flags: [key: "0y"]).contains(key.name))
        #expect(try await refusal(flags: [key: "-1s"]).contains(key.name))
    }

    @Test(arguments: [("true", true), ("1", true), ("false", false), ("0", false)])
    func `Booleans are words or digits, in the file too`(text: String, value: Bool) async throws {
        #expect(try await settings(flags: [.respectOrigin: text]).freshness.respectsOrigin == value)
        #expect(try await settings(file: "respect-origin: \(text)\n").freshness.respectsOrigin == value)
    }

    @Test(arguments: [
        "short-secret-15", "secret with blanks in it", "sécret-with-an-accent", "secret-\u{7}-and-a-bell",
    ])
    func `A token that cannot be sent or is too short is refused without repeating it`(token: String) async throws {
        for sentence in [
            try await refusal(flags: [.adminToken: token]),
            try await refusal(environment: [SettingKey.adminToken.environmentName: token]),
            try await refusal(file: "admin-token: \"\(token.filter { $0 != "\u{7}" })\"\n" + "port: x\n"),
        ] {
            #expect(!sentence.isEmpty)
            #expect(!sentence.contains("cret"))
        }
        #expect(try await settings(flags: [.adminToken: "exactly-16-chars"]).adminToken == "exactly-16-chars")
    }

    @Test(arguments: [
        ("https://img.example.com", "https://img.example.com"),
        ("https://IMG.example.com:443/", "https://img.example.com"),
        ("http://127.0.0.1:8080/pictures//", "http://127.0.0.1:8080/pictures"),
    ])
    func `A public address has one spelling, without a slash at its end`(text: String, address: String) async throws {
        #expect(try await settings(flags: [.publicURL: text]).publicURL == address)
    }

    @Test func `Nothing that is refused beside a token repeats the token`() async throws {
        let flags: [SettingKey: String] = [.adminToken: "correct-horse-battery"]
        for (key, value) in [(SettingKey.port, "x"), (.minFresh, "366d"), (.localRoot, "/no/such/folder")] {
            let sentence = try await refusal(flags: flags.merging([key: value]) { $1 })
            #expect(!sentence.isEmpty)
            #expect(!sentence.contains("horse"))
        }
    }

    @Test(arguments: [
        (SettingKey.port, "99999"), (.adminPort, "65536"), (.adminPort, ""), (.adminHost, ""), (.port, "x"),
        (.maxSourceBytes, "5MB"), (.maxSourceBytes, "-1"),
        (.maxSourceBytes, "0"), (.maxSourceBytes, "99999999999GiB"), (.connectTimeout, "5"), (.connectTimeout, "0s"),
        (.allowNetworks, "10.0.0.1/8"), (.allowNetworks, "nonsense"), (.allowPorts, "80,http"), (.resample, "best"),
        (.pixelWorkers, "0"), (.workerMemory, "1MiB"), (.isolation, "some"), (.quarantine, "1"), (.logLevel, "loud"),
        (.logFormat, "xml"), (.cacheKeyDropQuery, "utm_*"), (.host, ""),
        (.cacheMemoryLowWater, "101"), (.cacheMemoryLowWater, "60%"), (.cacheDecodedBytes, "-1"), (.cacheMaxAge, "0s"),
        (.cacheMaxAge, ""), (.cacheExpireBy, "birth"), (.respectOrigin, "yes"), (.maxFresh, "0s"),
        (.fallbackStatus, "199"),
        (.fallbackStatus, "600"), (.fallbackStatus, "204"), (.fallbackStatus, "304"), (.continueInBackground, ""),
        (.allowForcedRefresh, "TRUE"), (.allowGPS, "yes"), (.publicURL, ""), (.publicURL, "img.example.com"),
        (.publicURL, "ftp://a.org"),
        (.publicURL, "https://a.org/?x"), (.publicURL, "https://a.org/#x"), (.publicURL, "https://me@a.org"),
        (.publicURL, "local:///a"), (.allowLongerMaxAge, "2"), (.downloadOrder, "random"),
        (.adminToken, ""),
        (.localRoot, "/no/such/folder"), (.trustedProxies, "10.0.0.1/8"), (.rateLimit, "20"), (.rateLimit, ""),
        (.maxConnections, "0"), (.maxConnectionsPerClient, "x"), (.headerTimeout, "0s"), (.bodyTimeout, "0"),
        (.idleTimeout, "5"), (.writeTimeout, "-1s"), (.shutdownGrace, "9"),
    ])
    func `An impossible value is refused by the name of its key`(key: SettingKey, value: String) async throws {
        #expect(try await refusal(flags: [key: value]).contains(key.name))
        let sentence = try await refusal(environment: [key.environmentName: value])
        #expect(sentence.contains(key.environmentName) || sentence.contains(key.name))
    }

    @Test(arguments: [
        [SettingKey.adminPort: "8080"], [.connectTimeout: "20s"], [.downloadTimeout: "40s"], [.downloadsPerHost: "65"],
        [.maxSourcePixels: "130000000"], [.maxOutputPixels: "10"], [.minFresh: "366d"],
        [.maxConnectionsPerClient: "8193"],
    ])
    func `An impossible combination is refused by the names of both keys`(flags: [SettingKey: String]) async throws {
        let sentence = try await refusal(flags: flags)
        #expect(sentence.contains(try #require(flags.keys.first).name))
        #expect(sentence.contains(" and "))
    }

    @Test func `An unknown key is refused by its name, wherever it stands`() async throws {
        #expect(try await refusal(file: "max-source-byte: 5\n").contains("max-source-byte:"))
        #expect(try await refusal(environment: ["DARKROOM_PROT": "5"]).contains("DARKROOM_PROT"))
    }

    @Test func `A file that is missing or no mapping is refused`() async throws {
        await #expect(throws: SettingError.self) {
            _ = try await SettingLayers(flags: [:], environment: [:], file: "/no/such/file.yaml")
        }
        #expect(try await refusal(file: "- just\n- a list\n").contains("--config"))
    }

    @Test func `The README lists every setting with its default and meaning`() throws {
        let package = URL.fixtures.deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: package.appendingPathComponent("README.md"), encoding: .utf8)
        for key in SettingKey.allCases {
            #expect(readme.contains("| `\(key.name)` | \(key.standardText) | \(key.help) |"), "\(key.name)")
        }
    }
}
