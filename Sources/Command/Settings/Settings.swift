import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomStore
import DarkroomTransforms
import DarkroomWeb
import DarkroomWorkers
import Foundation
import Logging

/// Every setting of a running server, read, checked and typed.
struct Settings: Equatable, Sendable {
    var host: String
    var port: Int
    var adminHost: String
    /// Nil = administration has no port of its own.
    var adminPort: Int?
    var clientLimits: ClientLimits
    var cacheDirectory: String
    var cacheDiskBytes: Int
    var cacheMemoryBytes: Int
    /// What is left of that under memory pressure, 0…100.
    var cacheMemoryLowWaterPercent: Int
    var cacheDecodedBytes: Int
    /// Nil = entries of the disk cache have no age limit.
    var cacheMaxAge: Duration?
    var cacheExpireBy: DiskStore.Expiry
    var dropRules: [QueryDroppingFilter.Rule]
    var freshness: FreshnessPolicy
    var variantMaxAge: Duration
    var allowLongerMaxAge: Bool
    var allowForcedRefresh: Bool
    var allowGPS: Bool
    /// A secret.
    var adminToken: String?
    var access: Access
    /// Whether it may listen beyond this machine for anybody and any host.
    var openProxy: Bool
    var fallbackStatus: Int
    /// Without a slash at its end.
    var publicURL: String?
    var continueInBackground: Bool
    var localRoot: String?
    var allowNetworks: [CIDR]
    var allowHosts: [String]
    var allowPorts: Set<Int>
    var insecureTLSHosts: [String]
    var maxSourceBytes: Int
    var limits: PixelLimits
    var maxRedirects: Int
    var connectTimeout: Duration
    var downloadTimeout: Duration
    var requestTimeout: Duration
    var decoders: DecoderTerms
    var queueDepth: Int
    var prefetchConcurrency: Int
    var resampling: Resampling
    var downloads: DownloadTerms
    var logLevel: Logger.Level
    var logFormat: LogFormat

    /// Throws what stops start-up: an unreadable value or an impossible combination.
    init(_ layers: SettingLayers) throws(SettingError) {
        try self.init(SettingReader(layers: layers))
        try checkCombinations(layers)
        try checkExposure(layers)
    }

    private init(_ read: SettingReader) throws(SettingError) {
        host = try read.required(.host).text
        port = try read.integer(.port, 0...65_535)
        adminHost = try read.required(.adminHost).text
        adminPort = try read.layers.text(.adminPort)?.integer(in: 0...65_535)
        clientLimits = try read.clientLimits()
        cacheDirectory = try read.required(.cacheDir).text
        cacheDiskBytes = try read.required(.cacheDiskBytes).bytes(atLeast: 0)
        cacheMemoryBytes = try read.required(.cacheMemoryBytes).bytes(atLeast: 0)
        cacheMemoryLowWaterPercent = try read.integer(.cacheMemoryLowWater, 0...100)
        cacheDecodedBytes = try read.required(.cacheDecodedBytes).bytes(atLeast: 0)
        cacheMaxAge = try read.layers.text(.cacheMaxAge)?.duration()
        cacheExpireBy = try read.required(.cacheExpireBy).choice(of: DiskStore.Expiry.self)
        dropRules = try read.dropRules()
        freshness = try read.freshness()
        variantMaxAge = try read.required(.variantMaxAge).durationOrZero()
        allowLongerMaxAge = try read.required(.allowLongerMaxAge).boolean()
        allowForcedRefresh = try read.required(.allowForcedRefresh).boolean()
        allowGPS = try read.required(.allowGPS).boolean()
        adminToken = try read.layers.text(.adminToken)?.token()
        fallbackStatus = try read.required(.fallbackStatus).statusWithBody()
        publicURL = try read.layers.text(.publicURL)?.webAddress()
        continueInBackground = try read.required(.continueInBackground).boolean()
        localRoot = try read.layers.text(.localRoot)?.text
        allowNetworks = try read.list(.allowNetworks) { text throws(SettingError) in try text.network() }
        allowHosts = try read.list(.allowHosts) { $0.text }
        allowPorts = try read.ports()
        insecureTLSHosts = try read.list(.insecureTLSHosts) { $0.text }
        maxSourceBytes = try read.required(.maxSourceBytes).bytes(atLeast: 1)
        limits = try read.pixelLimits()
        maxRedirects = try read.integer(.maxRedirects, 0...20)
        connectTimeout = try read.required(.connectTimeout).duration()
        downloadTimeout = try read.required(.downloadTimeout).duration()
        requestTimeout = try read.required(.requestTimeout).duration()
        decoders = try read.decoders()
        queueDepth = try read.integer(.queueDepth, 0...100_000)
        prefetchConcurrency = try read.integer(.prefetchConcurrency, 1...1024)
        resampling = try read.required(.resample).choice(of: Resampling.self)
        downloads = try read.downloads(memoryBudgetBytes: decoders.memoryBudgetBytes)
        logLevel = try read.required(.logLevel).choice(of: Logger.Level.self)
        logFormat = try read.required(.logFormat).choice(of: LogFormat.self)
        access = try read.access(QueryLimits(limits, resampling))
        openProxy = try read.required(.openProxy).boolean()
    }

    private func checkCombinations(_ layers: SettingLayers) throws(SettingError) {
        func require(_ holds: Bool, _ first: SettingKey, _ second: SettingKey) throws(SettingError) {
            guard !holds, let less = try layers.text(first)?.text, let more = try layers.text(second)?.text else {
                return
            }
            throw SettingError(
                "\(layers.spelling(first)) and \(layers.spelling(second)): \(first.name) is \(less) and may not be more "
                    + "than \(second.name), which is \(more).")
        }
        try require(connectTimeout <= downloadTimeout, .connectTimeout, .downloadTimeout)
        try require(downloadTimeout <= requestTimeout, .downloadTimeout, .requestTimeout)
        try require(
            clientLimits.connections.maxConnectionsPerClient <= clientLimits.connections.maxConnections,
            .maxConnectionsPerClient, .maxConnections)
        try require(freshness.minFresh <= freshness.maxFresh, .minFresh, .maxFresh)
        try require(downloads.maxPerHost <= downloads.max, .downloadsPerHost, .maxDownloads)
        try require(limits.maxSourcePixels <= limits.maxAnimationPixels, .maxSourcePixels, .maxAnimationPixels)
        try require(limits.maxOutputSide <= limits.maxOutputPixels, .maxOutputSide, .maxOutputPixels)
        if let adminPort, adminPort != 0, (adminHost, adminPort) == (host, port) {
            throw SettingError(
                "\(layers.spelling(.port)) and \(layers.spelling(.adminPort)): both are \(port); each needs a port of its own."
            )
        }
        if let localRoot {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: localRoot, isDirectory: &isFolder), isFolder.boolValue else {
                throw SettingError("\(layers.spelling(.localRoot)): \(localRoot) is no folder.")
            }
        }
    }
}

/// How many pictures are worked on at a time, and behind which walls.
struct DecoderTerms: Equatable, Sendable {
    var workers: Int
    var isolation: Isolation
    /// Of one worker process.
    var memoryBytes: Int
    /// Of all pictures that are worked on at a time.
    var memoryBudgetBytes: Int
    /// Zero = none.
    var quarantine: Duration
}

/// How many downloads there are at a time, and who goes first.
struct DownloadTerms: Equatable, Sendable {
    var maxPerHost: Int
    var max: Int
    /// Of all of them together.
    var maxBytes: Int
    var order: DownloadOrder
}

extension QueryLimits {
    /// What queries may ask for.
    init(_ limits: PixelLimits, _ resampling: Resampling) {
        self.init(
            maxOutputSide: limits.maxOutputSide, maxFrames: limits.maxFrames, defaultResampling: resampling)
    }
}

enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}
