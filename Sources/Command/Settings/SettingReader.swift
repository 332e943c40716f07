import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomPipeline
import DarkroomTransforms
import DarkroomWeb
import DarkroomWorkers
import Foundation

/// What several settings are read alike by.
struct SettingReader {
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

    func clientLimits() throws(SettingError) -> ClientLimits {
        ClientLimits(
            trustedProxies: try list(.trustedProxies) { text throws(SettingError) in try text.network() },
            rateLimit: try layers.text(.rateLimit)?.rate(), connections: try connections())
    }

    private func connections() throws(SettingError) -> ConnectionLimits {
        ConnectionLimits(
            maxConnections: try integer(.maxConnections, 1...1_000_000),
            maxConnectionsPerClient: try integer(.maxConnectionsPerClient, 1...1_000_000),
            headerTimeout: try required(.headerTimeout).duration(), bodyTimeout: try required(.bodyTimeout).duration(),
            idleTimeout: try required(.idleTimeout).duration(), writeTimeout: try required(.writeTimeout).duration(),
            shutdownGrace: try required(.shutdownGrace).durationOrZero())
    }

    func freshness() throws(SettingError) -> FreshnessPolicy {
        FreshnessPolicy(
            defaultFresh: try required(.defaultFresh).durationOrZero(),
            minFresh: try required(.minFresh).durationOrZero(), maxFresh: try required(.maxFresh).duration(),
            staleWhileRevalidate: try required(.staleWhileRevalidate).durationOrZero(),
            staleIfError: try required(.staleIfError).durationOrZero(),
            respectsOrigin: try required(.respectOrigin).boolean())
    }

    func ports() throws(SettingError) -> Set<Int> {
        Set(try list(.allowPorts) { text throws(SettingError) in try text.integer(in: 1...65_535) })
    }

    func downloads(memoryBudgetBytes: Int) throws(SettingError) -> DownloadTerms {
        DownloadTerms(
            maxPerHost: try integer(.downloadsPerHost, 1...10_000), max: try integer(.maxDownloads, 1...100_000),
            maxBytes: try layers.text(.maxInFlightBytes)?.bytes(atLeast: 1) ?? max(memoryBudgetBytes / 2, 1),
            order: try required(.downloadOrder).choice(of: DownloadOrder.self))
    }

    func decoders() throws(SettingError) -> DecoderTerms {
        DecoderTerms(
            workers: try layers.text(.pixelWorkers)?.integer(in: 1...1024)
                ?? ProcessInfo.processInfo.activeProcessorCount,
            isolation: try required(.isolation).choice(of: Isolation.self),
            memoryBytes: try required(.workerMemory).bytes(atLeast: 256 << 20),
            memoryBudgetBytes: try layers.text(.memoryBudget)?.bytes(atLeast: 1)
                ?? PipelineConfiguration().memoryBudgetBytes,
            quarantine: try required(.quarantine).durationOrZero())
    }

}
