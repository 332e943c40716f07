/// Every setting: the one list that flags, environment, file, help and the README's table come from.
///
/// A key's name has three spellings: `--max-source-bytes`, `DARKROOM_MAX_SOURCE_BYTES`, `max-source-bytes:`.
enum SettingKey: String, CaseIterable, Sendable {
    case host
    case port
    case adminHost = "admin-host"
    case adminPort = "admin-port"
    case trustedProxies = "trusted-proxies"
    case rateLimit = "rate-limit"
    case maxConnections = "max-connections"
    case maxConnectionsPerClient = "max-connections-per-client"
    case headerTimeout = "header-timeout"
    case bodyTimeout = "body-timeout"
    case idleTimeout = "idle-timeout"
    case writeTimeout = "write-timeout"
    case shutdownGrace = "shutdown-grace"
    case cacheDir = "cache-dir"
    case cacheDiskBytes = "cache-disk-bytes"
    case cacheMemoryBytes = "cache-memory-bytes"
    case cacheMemoryLowWater = "cache-memory-low-water"
    case cacheDecodedBytes = "cache-decoded-bytes"
    case cacheMaxAge = "cache-max-age"
    case cacheExpireBy = "cache-expire-by"
    case cacheKeyDropQuery = "cache-key-drop-query"
    case respectOrigin = "respect-origin"
    case defaultFresh = "default-fresh"
    case minFresh = "min-fresh"
    case maxFresh = "max-fresh"
    case staleWhileRevalidate = "stale-while-revalidate"
    case staleIfError = "stale-if-error"
    case variantMaxAge = "variant-max-age"
    case allowLongerMaxAge = "allow-longer-maxage"
    case allowForcedRefresh = "allow-forced-refresh"
    case allowGPS = "allow-gps"
    case adminToken = "admin-token"
    case signingKeys = "signing-keys"
    case signingKeysFile = "signing-keys-file"
    case presets
    case presetsOnly = "presets-only"
    case openProxy = "open-proxy"
    case corsOrigins = "cors-origins"
    case fallbackStatus = "fallback-status"
    case publicURL = "public-url"
    case continueInBackground = "continue-in-background"
    case localRoot = "local-root"
    case allowNetworks = "allow-networks"
    case allowHosts = "allow-hosts"
    case allowPorts = "allow-ports"
    case insecureTLSHosts = "insecure-tls-hosts"
    case maxSourceBytes = "max-source-bytes"
    case maxSourcePixels = "max-source-pixels"
    case maxAnimationPixels = "max-animation-pixels"
    case maxFrames = "max-frames"
    case maxOutputSide = "max-output-side"
    case maxOutputPixels = "max-output-pixels"
    case maxRedirects = "max-redirects"
    case connectTimeout = "connect-timeout"
    case downloadTimeout = "download-timeout"
    case requestTimeout = "request-timeout"
    case pixelWorkers = "pixel-workers"
    case workerMemory = "worker-memory"
    case isolation
    case quarantine
    case queueDepth = "queue-depth"
    case memoryBudget = "memory-budget"
    case prefetchConcurrency = "prefetch-concurrency"
    case resample
    case downloadsPerHost = "downloads-per-host"
    case maxDownloads = "max-downloads"
    case maxInFlightBytes = "max-inflight-bytes"
    case downloadOrder = "download-order"
    case logLevel = "log-level"
    case logFormat = "log-format"

    var name: String { rawValue }
    var flag: String { "--\(name)" }
    var environmentName: String { "DARKROOM_\(name.uppercased().split(separator: "-").joined(separator: "_"))" }

    /// What applies where nobody says otherwise, in the words of the setting; empty = none.
    var standard: String {
        switch self {
        case .host, .adminHost: "127.0.0.1"
        case .port: "8080"
        case .cacheDir: CacheFolder.standard
        case .cacheDiskBytes: "10GiB"
        case .cacheMemoryBytes: "256MiB"
        case .cacheMemoryLowWater: "60"
        case .cacheDecodedBytes: "128MiB"
        case .cacheExpireBy: "access"
        case .cacheMaxAge, .cacheKeyDropQuery, .adminPort, .trustedProxies, .rateLimit, .adminToken, .publicURL,
            .localRoot, .allowNetworks, .allowHosts, .insecureTLSHosts, .pixelWorkers, .memoryBudget,
            .maxInFlightBytes, .signingKeys, .signingKeysFile, .presets, .corsOrigins:
            ""
        case .maxConnections: "8192"
        case .maxConnectionsPerClient: "1024"
        case .headerTimeout, .shutdownGrace: "10s"
        case .bodyTimeout, .idleTimeout, .writeTimeout: "30s"
        case .respectOrigin: "true"
        case .defaultFresh: "1h"
        case .minFresh, .staleWhileRevalidate: "0s"
        case .staleIfError: "1d"
        case .maxFresh, .variantMaxAge: "365d"
        case .allowLongerMaxAge, .allowForcedRefresh, .allowGPS, .continueInBackground, .presetsOnly, .openProxy:
            "false"
        case .fallbackStatus: "200"
        case .allowPorts: "80,443"
        case .maxSourceBytes: "50MiB"
        case .maxSourcePixels: "60000000"
        case .maxAnimationPixels: "120000000"
        case .maxFrames: "256"
        case .maxOutputSide: "8192"
        case .maxOutputPixels: "50000000"
        case .maxRedirects: "5"
        case .connectTimeout: "5s"
        case .downloadTimeout: "15s"
        case .requestTimeout: "30s"
        case .workerMemory: "2GiB"
        case .isolation: "auto"
        case .quarantine: "1h"
        case .queueDepth: "64"
        case .prefetchConcurrency: "2"
        case .resample: "fast"
        case .downloadsPerHost: "6"
        case .maxDownloads: "64"
        case .downloadOrder: "fifo"
        case .logLevel: "info"
        case .logFormat: "text"
        }
    }
}
