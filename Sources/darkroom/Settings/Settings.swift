import Foundation
import Logging
import Origin
import Pipeline
import Transforms

/// Every setting of a running server, read, checked and typed.
struct Settings: Equatable, Sendable {
    var host: String
    var port: Int
    var cacheDirectory: String
    var cacheDiskBytes: Int
    var cacheMemoryBytes: Int
    var dropRules: [QueryDroppingFilter.Rule]
    var originalMaxAge: Duration
    var variantMaxAge: Duration
    var localRoot: String?
    var allowNetworks: [CIDR]
    var allowHosts: [String]
    var allowPorts: Set<Int>
    var maxSourceBytes: Int
    var limits: PixelLimits
    var maxRedirects: Int
    var connectTimeout: Duration
    var downloadTimeout: Duration
    var requestTimeout: Duration
    var pixelWorkers: Int
    var queueDepth: Int
    var resampling: Resampling
    var downloadsPerHost: Int
    var maxDownloads: Int
    var logLevel: Logger.Level
    var logFormat: LogFormat

    /// Throws what stops start-up: an unreadable value or an impossible combination.
    init(_ layers: SettingLayers) throws(SettingError) {
        let read = SettingReader(layers: layers)
        host = try read.required(.host).text
        port = try read.integer(.port, 0...65_535)
        cacheDirectory = try read.required(.cacheDir).text
        cacheDiskBytes = try read.required(.cacheDiskBytes).bytes(atLeast: 0)
        cacheMemoryBytes = try read.required(.cacheMemoryBytes).bytes(atLeast: 0)
        dropRules = try read.dropRules()
        originalMaxAge = try read.required(.originalMaxAge).duration()
        variantMaxAge = try read.required(.variantMaxAge).duration()
        localRoot = try layers.text(.localRoot)?.text
        allowNetworks = try read.list(.allowNetworks) { text throws(SettingError) in try text.network() }
        allowHosts = try read.list(.allowHosts) { $0.text }
        allowPorts = Set(
            try read.list(.allowPorts) { text throws(SettingError) in try text.integer(in: 1...65_535) })
        maxSourceBytes = try read.required(.maxSourceBytes).bytes(atLeast: 1)
        limits = try read.pixelLimits()
        maxRedirects = try read.integer(.maxRedirects, 0...20)
        connectTimeout = try read.required(.connectTimeout).duration()
        downloadTimeout = try read.required(.downloadTimeout).duration()
        requestTimeout = try read.required(.requestTimeout).duration()
        pixelWorkers = try read.pixelWorkers()
        queueDepth = try read.integer(.queueDepth, 0...100_000)
        resampling = try read.required(.resample).choice(of: Resampling.self)
        downloadsPerHost = try read.integer(.downloadsPerHost, 1...10_000)
        maxDownloads = try read.integer(.maxDownloads, 1...100_000)
        logLevel = try read.required(.logLevel).choice(of: Logger.Level.self)
        logFormat = try read.required(.logFormat).choice(of: LogFormat.self)
        try checkCombinations(layers)
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
        try require(downloadsPerHost <= maxDownloads, .downloadsPerHost, .maxDownloads)
        try require(limits.maxSourcePixels <= limits.maxAnimationPixels, .maxSourcePixels, .maxAnimationPixels)
        try require(limits.maxOutputSide <= limits.maxOutputPixels, .maxOutputSide, .maxOutputPixels)
        if let localRoot {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: localRoot, isDirectory: &isFolder), isFolder.boolValue else {
                throw SettingError("\(layers.spelling(.localRoot)): \(localRoot) is no folder.")
            }
        }
    }
}

enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}

/// What several settings are read alike by.
private struct SettingReader {
    let layers: SettingLayers

    func required(_ key: SettingKey) throws(SettingError) -> SettingText {
        guard let text = try layers.text(key), !text.text.isEmpty else {
            throw SettingError("\(layers.spelling(key)): a value is needed.")
        }
        return text
    }

    func integer(_ key: SettingKey, _ range: ClosedRange<Int>) throws(SettingError) -> Int {
        try required(key).integer(in: range)
    }

    func list<Member>(
        _ key: SettingKey, _ member: (SettingText) throws(SettingError) -> Member
    ) throws(SettingError) -> [Member] {
        var members: [Member] = []
        for text in try layers.list(key) { members.append(try member(text)) }
        return members
    }

    /// `HOSTGLOB=NAMEGLOB`; a member without `=` is one more name for the rule before it.
    func dropRules() throws(SettingError) -> [QueryDroppingFilter.Rule] {
        var rules: [QueryDroppingFilter.Rule] = []
        for text in try layers.list(.cacheKeyDropQuery) {
            if !rules.isEmpty, !text.text.isEmpty, !text.text.contains("=") {
                rules[rules.count - 1].parameterPatterns.append(text.text)
            } else {
                rules.append(try text.dropRule())
            }
        }
        return rules
    }

    func pixelLimits() throws(SettingError) -> PixelLimits {
        PixelLimits(
            maxSourcePixels: try integer(.maxSourcePixels, 1...10_000_000_000),
            maxAnimationPixels: try integer(.maxAnimationPixels, 1...10_000_000_000),
            maxFrames: try integer(.maxFrames, 1...100_000),
            maxOutputSide: try integer(.maxOutputSide, 1...16_383),
            maxOutputPixels: try integer(.maxOutputPixels, 1...4_000_000_000))
    }

    func pixelWorkers() throws(SettingError) -> Int {
        guard let text = try layers.text(.pixelWorkers) else { return ProcessInfo.processInfo.activeProcessorCount }
        return try text.integer(in: 1...1024)
    }
}
