import ArgumentParser

/// The settings as flags. Values stay texts here: whatever is wrong with one is said by `Settings`, wherever it came from.
struct SettingFlags: ParsableArguments {
    @Option(help: .setting(.host)) var host: String?
    @Option(help: .setting(.port)) var port: String?
    @Option(help: .setting(.adminHost)) var adminHost: String?
    @Option(help: .setting(.adminPort)) var adminPort: String?
    @Option(help: .setting(.trustedProxies)) var trustedProxies: String?
    @Option(help: .setting(.rateLimit)) var rateLimit: String?
    @Option(help: .setting(.maxConnections)) var maxConnections: String?
    @Option(help: .setting(.maxConnectionsPerClient)) var maxConnectionsPerClient: String?
    @Option(help: .setting(.headerTimeout)) var headerTimeout: String?
    @Option(help: .setting(.bodyTimeout)) var bodyTimeout: String?
    @Option(help: .setting(.idleTimeout)) var idleTimeout: String?
    @Option(help: .setting(.writeTimeout)) var writeTimeout: String?
    @Option(help: .setting(.shutdownGrace)) var shutdownGrace: String?
    @Option(help: .setting(.cacheDir)) var cacheDir: String?
    @Option(help: .setting(.cacheDiskBytes)) var cacheDiskBytes: String?
    @Option(help: .setting(.cacheMemoryBytes)) var cacheMemoryBytes: String?
    @Option(help: .setting(.cacheMemoryLowWater)) var cacheMemoryLowWater: String?
    @Option(help: .setting(.cacheDecodedBytes)) var cacheDecodedBytes: String?
    @Option(help: .setting(.cacheMaxAge)) var cacheMaxAge: String?
    @Option(help: .setting(.cacheExpireBy)) var cacheExpireBy: String?
    @Option(help: .setting(.cacheKeyDropQuery)) var cacheKeyDropQuery: String?
    @Option(help: .setting(.respectOrigin)) var respectOrigin: String?
    @Option(help: .setting(.defaultFresh)) var defaultFresh: String?
    @Option(help: .setting(.minFresh)) var minFresh: String?
    @Option(help: .setting(.maxFresh)) var maxFresh: String?
    @Option(help: .setting(.staleWhileRevalidate)) var staleWhileRevalidate: String?
    @Option(help: .setting(.staleIfError)) var staleIfError: String?
    @Option(help: .setting(.variantMaxAge)) var variantMaxAge: String?
    @Option(name: .customLong(SettingKey.allowLongerMaxAge.name), help: .setting(.allowLongerMaxAge))
    var allowLongerMaxAge: String?
    @Option(help: .setting(.allowForcedRefresh)) var allowForcedRefresh: String?
    @Option(name: .customLong(SettingKey.allowGPS.name), help: .setting(.allowGPS)) var allowGPS: String?
    @Option(help: .setting(.adminToken)) var adminToken: String?
    @Option(help: .setting(.signingKeys)) var signingKeys: String?
    @Option(help: .setting(.signingKeysFile)) var signingKeysFile: String?
    @Option(help: .setting(.presets)) var presets: String?
    @Option(help: .setting(.presetsOnly)) var presetsOnly: String?
    @Option(help: .setting(.openProxy)) var openProxy: String?
    @Option(help: .setting(.corsOrigins)) var corsOrigins: String?
    @Option(help: .setting(.fallbackStatus)) var fallbackStatus: String?
    @Option(name: .customLong(SettingKey.publicURL.name), help: .setting(.publicURL)) var publicURL: String?
    @Option(help: .setting(.continueInBackground)) var continueInBackground: String?
    @Option(help: .setting(.localRoot)) var localRoot: String?
    @Option(help: .setting(.allowNetworks)) var allowNetworks: String?
    @Option(help: .setting(.allowHosts)) var allowHosts: String?
    @Option(help: .setting(.allowPorts)) var allowPorts: String?
    @Option(name: .customLong(SettingKey.insecureTLSHosts.name), help: .setting(.insecureTLSHosts))
    var insecureTLSHosts: String?
    @Option(help: .setting(.maxSourceBytes)) var maxSourceBytes: String?
    @Option(help: .setting(.maxSourcePixels)) var maxSourcePixels: String?
    @Option(help: .setting(.maxAnimationPixels)) var maxAnimationPixels: String?
    @Option(help: .setting(.maxFrames)) var maxFrames: String?
    @Option(help: .setting(.maxOutputSide)) var maxOutputSide: String?
    @Option(help: .setting(.maxOutputPixels)) var maxOutputPixels: String?
    @Option(help: .setting(.maxRedirects)) var maxRedirects: String?
    @Option(help: .setting(.connectTimeout)) var connectTimeout: String?
    @Option(help: .setting(.downloadTimeout)) var downloadTimeout: String?
    @Option(help: .setting(.requestTimeout)) var requestTimeout: String?
    @Option(help: .setting(.pixelWorkers)) var pixelWorkers: String?
    @Option(help: .setting(.workerMemory)) var workerMemory: String?
    @Option(help: .setting(.isolation)) var isolation: String?
    @Option(help: .setting(.quarantine)) var quarantine: String?
    @Option(help: .setting(.queueDepth)) var queueDepth: String?
    @Option(help: .setting(.memoryBudget)) var memoryBudget: String?
    @Option(help: .setting(.prefetchConcurrency)) var prefetchConcurrency: String?
    @Option(help: .setting(.resample)) var resample: String?
    @Option(help: .setting(.downloadsPerHost)) var downloadsPerHost: String?
    @Option(help: .setting(.maxDownloads)) var maxDownloads: String?
    @Option(name: .customLong(SettingKey.maxInFlightBytes.name), help: .setting(.maxInFlightBytes))
    var maxInFlightBytes: String?
    @Option(help: .setting(.downloadOrder)) var downloadOrder: String?
    @Option(help: .setting(.logLevel)) var logLevel: String?
    @Option(help: .setting(.logFormat)) var logFormat: String?

    /// The flags that were given.
    var given: [SettingKey: String] {
        let all: [SettingKey: String?] = [
            .host: host, .port: port, .adminHost: adminHost, .adminPort: adminPort,
            .trustedProxies: trustedProxies, .rateLimit: rateLimit, .maxConnections: maxConnections,
            .maxConnectionsPerClient: maxConnectionsPerClient, .headerTimeout: headerTimeout, .bodyTimeout: bodyTimeout,
            .idleTimeout: idleTimeout, .writeTimeout: writeTimeout, .shutdownGrace: shutdownGrace, .cacheDir: cacheDir,
            .cacheDiskBytes: cacheDiskBytes,
            .cacheMemoryBytes: cacheMemoryBytes, .cacheMemoryLowWater: cacheMemoryLowWater,
            .cacheDecodedBytes: cacheDecodedBytes, .cacheMaxAge: cacheMaxAge, .cacheExpireBy: cacheExpireBy,
            .cacheKeyDropQuery: cacheKeyDropQuery, .respectOrigin: respectOrigin, .defaultFresh: defaultFresh,
            .minFresh: minFresh, .maxFresh: maxFresh, .staleWhileRevalidate: staleWhileRevalidate,
            .staleIfError: staleIfError, .variantMaxAge: variantMaxAge, .allowLongerMaxAge: allowLongerMaxAge,
            .allowForcedRefresh: allowForcedRefresh, .allowGPS: allowGPS, .adminToken: adminToken,
            .signingKeys: signingKeys, .signingKeysFile: signingKeysFile, .presets: presets,
            .presetsOnly: presetsOnly, .openProxy: openProxy, .corsOrigins: corsOrigins,
            .fallbackStatus: fallbackStatus, .publicURL: publicURL,
            .continueInBackground: continueInBackground, .localRoot: localRoot, .allowNetworks: allowNetworks,
            .allowHosts: allowHosts, .allowPorts: allowPorts, .insecureTLSHosts: insecureTLSHosts,
            .maxSourceBytes: maxSourceBytes, .maxSourcePixels: maxSourcePixels,
            .maxAnimationPixels: maxAnimationPixels, .maxFrames: maxFrames, .maxOutputSide: maxOutputSide,
            .maxOutputPixels: maxOutputPixels, .maxRedirects: maxRedirects, .connectTimeout: connectTimeout,
            .downloadTimeout: downloadTimeout, .requestTimeout: requestTimeout, .pixelWorkers: pixelWorkers,
            .workerMemory: workerMemory, .isolation: isolation, .quarantine: quarantine, .queueDepth: queueDepth,
            .memoryBudget: memoryBudget, .prefetchConcurrency: prefetchConcurrency, .resample: resample,
            .downloadsPerHost: downloadsPerHost, .maxDownloads: maxDownloads, .maxInFlightBytes: maxInFlightBytes,
            .downloadOrder: downloadOrder, .logLevel: logLevel, .logFormat: logFormat,
        ]
        return all.compactMapValues { $0 }
    }
}

extension ArgumentHelp {
    fileprivate static func setting(_ key: SettingKey) -> ArgumentHelp {
        ArgumentHelp("\(key.help) Default: \(key.standardText).")
    }
}
