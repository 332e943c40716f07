import ArgumentParser
import DarkroomMetrics
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomStore
import DarkroomTransforms
import DarkroomWeb
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// The composition root: makes every part from the settings, runs them, and takes them down in order.
struct ImageServer {
    private let settings: Settings
    private let logger: Logger
    private let registry = PrometheusRegistry(
        help: [Observability.help, MeasuredOrigin.help, MeasuredProcessing.help].reduce(into: [:]) {
            $0.merge($1) { first, _ in first }
        })
    private let startedAt = Date()

    init(_ settings: Settings) {
        self.settings = settings
        let format = settings.logFormat
        var handler = LineLogHandler(format: format)
        handler.metadataProvider = .request
        var logger = Logger(label: "darkroom") { [handler] _ in handler }
        logger.logLevel = settings.logLevel
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT, then finishes what is under way and writes what waits for the disk; a second one ends it at once.
    func run() async throws {
        let secondSignal = await SecondSignal.watch(logger: logger)
        defer { secondSignal.cancel() }
        let pixels = try await pixelWork()
        let disk = try await openDisk()
        let client = GuardedHTTPClient(
            settings: clientSettings, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        let caches = Caches(
            memory: MemoryStore(budgetBytes: settings.cacheMemoryBytes), disk: disk,
            diskBudgetBytes: settings.cacheDiskBytes, decodedBudgetBytes: settings.cacheDecodedBytes,
            decoded: pixels.decoded)
        let pipeline = pipeline(over: client, caches, pixels)
        let prefetcher = Prefetcher(pipeline, concurrency: settings.prefetchConcurrency)
        let relief = MemoryUpkeep(
            pipeline, heldBytes: { caches.bytesInMemory }, lowWaterPercent: settings.cacheMemoryLowWaterPercent,
            logger: logger)
        let failure = await serve(
            pipeline, prefetcher, observability(of: pipeline, prefetcher, caches, pixels, client),
            beside: [relief, ExpiryUpkeep(pipeline: pipeline)])
        prefetcher.shutdown()
        pipeline.shutdown()
        pixels.stop()
        await client.shutdown()
        await disk?.close()
        if let failure { throw failure }
    }

    /// Runs the HTTP server; what ended it other than a signal is given back, after everything else is closed.
    private func serve(
        _ pipeline: ImagePipeline, _ prefetcher: Prefetcher, _ observability: Observability, beside upkeep: [any Service]
    ) async -> (any Error)? {
        let announcement = Announcement(settings)
        let doors = makeApplications(
            configuration: webConfiguration, pipeline: pipeline, prefetcher: prefetcher, observability: observability,
            logger: logger
        ) { door, channel in
            guard announcement.note(door, at: channel.localAddress?.port ?? 0) else { return }
            observability.serverState.finishStarting()
            announcement.print()
        }.map(ListenerService.init)
        do {
            try await ServiceGroup(
                // Shut down from the last to the first: whoever runs the server can still see it drain.
                services: upkeep + doors.reversed()
                    + [Draining(serverState: observability.serverState, prefetcher: prefetcher)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
            ).run()
            return nil
        } catch {
            complain((error as? ListenerFailure)?.sentence(settings) ?? "\(error).")
            return ExitCode.failure
        }
    }

    private func pipeline(
        over client: GuardedHTTPClient, _ caches: Caches, _ pixels: PixelWork
    ) -> ImagePipeline {
        ImagePipeline(
            configuration: pipelineConfiguration,
            origin: OriginRouter(
                remote: MeasuredOrigin(client, metrics: registry),
                local: LocalFiles(root: settings.localRoot, maxSourceBytes: settings.maxSourceBytes)),
            memory: caches.memory, disk: caches.disk,
            processing: MeasuredProcessing(pixels.processing, metrics: registry),
            keyFilter: settings.dropRules.isEmpty
                ? CanonicalURLFilter() : QueryDroppingFilter(rules: settings.dropRules),
            logger: logger)
    }

    private func observability(
        of pipeline: ImagePipeline, _ prefetcher: Prefetcher, _ caches: Caches, _ pixels: PixelWork,
        _ client: GuardedHTTPClient
    ) -> Observability {
        let serverState = ServerState(isStarting: true)
        let readings = Readings(
            caches: caches, pipeline: pipeline, prefetcher: prefetcher, serverState: serverState, workers: pixels.workers,
            startedAt: startedAt
        ) { client.inFlightBytes }
        var observability = Observability(metrics: registry, serverState: serverState) { [registry] in
            registry.exposition(with: readings.families)
        } caches: {
            caches.tiers
        } isCacheHealthy: {
            caches.disk?.isHealthy() ?? true
        }
        observability.isHealthy = { pixels.isHealthy }
        return observability
    }

    private func openDisk() async throws -> DiskStore? {
        do {
            return try await DiskTier(settings: settings, logger: logger).open()
        } catch {
            complain("\(error)")
            throw ExitCode.failure
        }
    }

    /// What the settings say, with no more connections than the system allows.
    private var webConfiguration: WebConfiguration {
        var configuration = settings.webConfiguration
        configuration.clientLimits.connections.maxConnections = DescriptorLimit.raised(logger: logger).connections(
            settings.clientLimits.connections.maxConnections, doors: settings.adminPort == nil ? 1 : 2, logger: logger)
        return configuration
    }

    private func pixelWork() async throws -> PixelWork {
        do {
            return try await PixelWork(settings, logger: logger)
        } catch {
            complain("\(error)")
            throw ExitCode.failure
        }
    }

    private func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("Error: \(sentence)\n".utf8))
    }

    private var pipelineConfiguration: PipelineConfiguration {
        PipelineConfiguration(
            limits: settings.limits, pixelWorkers: settings.decoders.workers, queueDepth: settings.queueDepth,
            memoryBudgetBytes: settings.decoders.memoryBudgetBytes, requestTimeout: settings.requestTimeout,
            freshness: settings.freshness,
            continuesInBackground: settings.continueInBackground)
    }

    private var clientSettings: GuardedHTTPClient.Settings {
        var client = GuardedHTTPClient.Settings()
        client.hosts = HostPolicy(allowHosts: settings.allowHosts, allowPorts: settings.allowPorts)
        client.addresses = AddressPolicy(allowNetworks: settings.allowNetworks)
        client.maxSourceBytes = settings.maxSourceBytes
        client.maxRedirects = settings.maxRedirects
        client.connectTimeout = settings.connectTimeout
        client.downloadTimeout = settings.downloadTimeout
        client.downloadsPerHost = settings.downloads.maxPerHost
        client.downloadOrder = settings.downloads.order
        client.insecureTLSHosts = settings.insecureTLSHosts
        client.maxDownloads = settings.downloads.max
        client.maxInFlightBytes = settings.downloads.maxBytes
        client.userAgent = "darkroom/\(Darkroom.release)"
        return client
    }
}
