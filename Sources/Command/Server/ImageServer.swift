import DarkroomEdgePurging
import DarkroomHTTPServer
import DarkroomLoading
import DarkroomMachine
import DarkroomOpenTelemetry
import DarkroomOrigin
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomStore
import DarkroomTracing
import DarkroomTransforms
import DarkroomWeb
import DarkroomWorkers
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Tracing
import UnixSignals

/// The composition root: assembles the server from its settings, runs it, and shuts it down in order.
struct ImageServer {
    private let settings: Settings
    /// Reads the sources of the settings again.
    private let sources: @Sendable () throws(SettingError) -> SettingSources
    private let log: LogWriter
    private let logger: Logger
    private let startedAt = Date()
    private let descriptors: DescriptorLimit
    /// Nil = no spans are recorded.
    private let traces: TraceExport?
    private let registry = PrometheusRegistry(
        help: [Observability.help, MeteredOrigin.help, MeteredProcessing.help, SharedBackend.help].reduce(into: [:]) {
            $0.merge($1) { first, _ in first }
        })

    init(_ settings: Settings, sources: @escaping @Sendable () throws(SettingError) -> SettingSources) {
        self.settings = settings
        self.sources = sources
        log = LogWriter(format: settings.logging.format, level: settings.logging.level)
        var handler = LineLogHandler(writer: log)
        handler.metadataProvider = .request
        logger = Logger(label: "darkroom") { [handler] _ in handler }
        logger.info(
            "starting",
            metadata: ["version": "\(Darkroom.release)", "pid": .stringConvertible(Int(getpid()))])
        descriptors = DescriptorLimit.raised(logger: logger)
        traces = TraceExport(settings, logger: logger)
        logShortGrace()
    }

    /// Continues the traces of requests. The process has to be bootstrapped with it before the server runs.
    var instrument: any Instrument { traces?.tracer ?? W3CTraceContext() }

    /// Serves until SIGTERM or SIGINT, then finishes in-flight requests and pending disk writes. A second signal ends
    /// the process at once.
    ///
    /// Throws a ``SettingError`` if a part cannot start, and a ``ListenerFailure`` if a port cannot be bound. The log
    /// has been written by then.
    func run() async throws {
        defer { log.flush() }
        let (signals, firstSignal) = await watchSignals(logger: logger) { [log] in log.flush() }
        let hangups = await UnixSignalsSequence(trapping: .sighup)

        // Pixels, and stores: memory, disk, a store shared with other servers, decoded originals. The first worker and
        // this process load the libraries of codecs at the same time.
        async let backend = PixelBackend(settings, logger: logger)
        try examineMachine()
        let pixels = try await backend
        let disk = try await openDisk()
        let shared = try await SharedBackend(settings, metrics: registry, logger: logger)
        let caches = caches(disk, shared, pixels)

        // Origins: remote hosts, object stores and local files.
        let client = GuardedHTTPClient(
            settings: settings.clientSettings, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        let stores = try ObjectSourceStores(settings, logger: logger)

        // The pipeline over these, and prefetching on top of it.
        let pipeline = await pipeline(over: origin(client, stores), caches, shared, pixels)
        let prefetcher = Prefetcher(pipeline)
        let edges = EdgePurges(settings, disk, shared, logger: logger)

        // The listeners, and the upkeep beside them.
        let state = ServerState(isStarting: true, unsent: UnsentBytes(budgetBytes: settings.transferBytes))
        let web = webConfiguration(over: client)
        let readings = readings(of: caches, pipeline, prefetcher, state, pixels, edges, web, client)
        let observability = observability(serverState: state, readings: readings, caches: caches, pixels: pixels)
        let report = StateReport(logger: logger) { readings.families(isReady: observability.isReady) }
        let listeners = listeners(web, pipeline, prefetcher, observability, edges.telling(pipeline, state))
        let reloads = reloader(web, client, listeners).follow(hangups)
        defer { for cancel in [signals.cancel, reloads.cancel, report.cancel] as [() -> Void] { cancel() } }
        let services = upkeep(pipeline, caches, edges, state) + services(of: listeners, state, prefetcher, edges)
        let failure = await run(services, until: firstSignal)

        prefetcher.shutdown()
        pipeline.shutdown()
        pixels.workers?.stop()
        await client.shutdown()
        await stores.shutdown()
        await disk?.close()
        await shared?.shutdown()
        try finish(failure)
    }

    /// Services shut down from the last to the first: the admin listener reports the drain until it is over.
    private func services(
        of listeners: Listeners, _ serverState: ServerState, _ prefetcher: Prefetcher, _ edges: EdgePurges
    ) -> [any Service] {
        let drain = DrainService(
            serverState: serverState, prefetcher: prefetcher, edges: edges.purger,
            grace: settings.listeners.shutdownGrace, logger: logger)
        return listeners.services.reversed().map { NamedListener(listener: $0, service: $1) } + [drain]
    }

    private func reloader(
        _ web: WebConfiguration, _ client: GuardedHTTPClient, _ listeners: Listeners
    ) -> SettingsReloader {
        SettingsReloader(
            settings: settings, sources: sources, web: web, client: client, listeners: listeners, log: log,
            logger: logger)
    }

    /// The last event, unless a failure ended the services.
    private func finish(_ failure: (any Error)?) throws {
        if let failure { throw failure }
        let uptime = Date().timeIntervalSince(startedAt).rounded()
        logger.info("stopped", metadata: ["uptime-seconds": .stringConvertible(Int(uptime))])
    }

    /// Logs the limits, codecs and fonts that the environment determines. Throws for a fault of libvips.
    private func examineMachine() throws(SettingError) {
        if let fault = InstalledCodecs.current.fault { throw SettingError(fault, cause: .machine) }
        if !settings.serviceLinks.isEmpty {
            logger.info(
                "ignored variables that Kubernetes sets for Services",
                metadata: ["names": "\(settings.serviceLinks.joined(separator: ","))"])
        }
        let limits = ResourceLimits.current
        let (processing, cache) = (SettingsTable.all.processing, SettingsTable.all.cache)
        var metadata: Logger.Metadata = [
            "cpu-cores": .stringConvertible(limits.processorCount),
            "cpu-quota": "\(limits.processorQuota.map { "\($0)" } ?? "none")",
            "usable-memory": "\(processing.memoryBudget.text(of: limits.memoryBytes))",
        ]
        let rows: [any SettingRow] = [
            processing.pixelWorkers, processing.memoryBudget, cache.memoryBytes, cache.decodedBytes,
        ]
        for row in rows {
            let text = row.text(in: settings.values)
            metadata[row.name] = Int(text).map { .stringConvertible($0) } ?? "\(text)"
        }
        logger.info("limits of this process", metadata: metadata)
        logMissingCodecs()
        logMissingFonts()
        logMissingDetector()
    }

    /// Logs that a restart may fail requests. The settings are valid: a supervisor may not give more time.
    private func logShortGrace() {
        let (listeners, limits) = (SettingsTable.all.listeners, SettingsTable.all.limits)
        guard settings.listeners.shutdownGrace < settings.limits.requestTimeout else { return }
        let rows: [any SettingRow] = [listeners.shutdownGrace, limits.requestTimeout]
        logger.warning(
            "shutdown-grace is shorter than request-timeout: requests that take longer fail with 503 at a restart",
            metadata: Logger.Metadata(
                uniqueKeysWithValues: rows.map { ($0.name, .string($0.text(in: settings.values))) }))
    }

    private func logMissingCodecs() {
        let missing = InstalledCodecs.current.missing
        guard !missing.isEmpty else { return }
        let unused = settings.formats.formats.formats.filter(InstalledCodecs.current.unwritable.contains)
        logger.warning(
            "codecs are missing: images in these formats are refused, and none are offered",
            metadata: [
                "missing": "\(missing.map(\.description).joined(separator: ", "))",
                "install": "\(missing.map(\.remedy).joined(separator: ", "))",
                "unused-formats": "\(unused.isEmpty ? "none" : unused.map(\.rawValue).joined(separator: ","))",
            ])
    }

    private func logMissingFonts() {
        let fonts = InstalledFonts.current
        guard !fonts.missing.isEmpty else { return }
        logger.info(
            "no fonts for some scripts: texts in them are refused, and SVGs show boxes",
            metadata: [
                "missing": "\(fonts.missing.joined(separator: ", "))",
                "install": "\(fonts.packages.joined(separator: ", "))",
            ])
    }

    private func logMissingDetector() {
        guard settings.processing.faces, !FaceDetector.isBuiltIn else { return }
        logger.warning(
            "faces is on, but this build has no detector of faces: requests for faces are refused",
            metadata: ["install": "the package \(FaceDetector.package), before building"])
    }

    private func caches(_ disk: DiskStore?, _ shared: SharedBackend?, _ pixels: PixelBackend) -> Caches {
        Caches(
            memory: MemoryStore(budgetBytes: settings.cache.memoryBytes, maxFiles: descriptors.memoryFiles),
            disk: disk, shared: shared?.store, diskBudgetBytes: settings.cache.diskBytes,
            decodedBudgetBytes: settings.cache.decodedBytes, decoded: pixels.decoded)
    }

    private func pipeline(
        over origin: any OriginFetching, _ caches: Caches, _ shared: SharedBackend?, _ pixels: PixelBackend
    ) async -> ImagePipeline {
        let rules = settings.cache.keyDropQuery
        let pipeline = ImagePipeline(
            configuration: settings.pipelineConfiguration, origin: origin, memory: caches.memory, disk: caches.disk,
            shared: caches.shared, processing: MeteredProcessing(pixels.processing, metrics: registry),
            keyFilter: rules.isEmpty ? CanonicalURLFilter() : QueryDroppingFilter(rules: rules), logger: logger)
        // What others have purged while this server was away must not be served. If reading that takes longer, origins
        // confirm what is on disk until it ends: a long log must not delay the start.
        if shared?.isReachable == true { await pipeline.catchUpWithPurges() }
        return pipeline
    }

    /// Remote hosts and object stores, whose requests are metered, and local files.
    private func origin(_ client: GuardedHTTPClient, _ stores: ObjectSourceStores) -> OriginRouter {
        let objects = ObjectSources(
            stores.sources, sharingLimitsOf: client, maxSourceBytes: settings.limits.maxSourceBytes,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        let folder = LocalFiles(root: settings.origins.localRoot, maxSourceBytes: settings.limits.maxSourceBytes)
        let localFiles = EmbeddedFiles(settings.access.playground ? SampleImages.files : [:], behind: folder)
        let remote = MeteredOrigin(
            OriginRouter(remote: client, local: localFiles, objects: objects), metrics: registry)
        return OriginRouter(
            remote: remote, local: localFiles, objects: remote,
            forbiddenIsMissing: settings.origins.forbiddenIsMissing)
    }

    private func upkeep(
        _ pipeline: ImagePipeline, _ caches: Caches, _ edges: EdgePurges, _ serverState: ServerState
    ) -> [any Service] {
        let memory = PressureRelief.Cache {
            caches.bytesInMemory
        } shrink: {
            pipeline.shrinkMemory(toFraction: 0.6)
        }
        let clients = PressureRelief.Cache {
            serverState.transientBytes
        } shrink: {
            // Evicts nothing, but returns freed memory.
            pipeline.shrinkMemory(toFraction: 1)
        }
        let relief = PressureRelief([memory], transient: clients, logger: logger)
        // As the first service it ends last, so that it delivers the spans of the last requests too.
        let export = traces.map { Upkeep("trace export", stop: $0.exporter.stop, $0.exporter.run) }
        let purges = caches.shared.map { shared in
            Upkeep("purges of other servers", every: shared.configuration.purgeInterval) {
                await pipeline.carryOutPurges()
            }
        }
        return [export, purges].compactMap(\.self) + [
            Upkeep("purges of edges", stop: edges.purger.stop, edges.purger.run),
            Upkeep("memory pressure") { await relief.run() },
            Upkeep("expiry", every: .seconds(3_600)) { await pipeline.removeExpired() },
        ]
    }

    private func listeners(
        _ configuration: WebConfiguration, _ pipeline: ImagePipeline, _ prefetcher: Prefetcher,
        _ observability: Observability, _ tellEdges: @escaping EdgeTelling
    ) -> Listeners {
        let startup = StartupMessage(settings, logger: logger)
        return Listeners(
            configuration: configuration, pipeline: pipeline, prefetcher: prefetcher, observability: observability,
            tellEdges: tellEdges, logger: logger
        ) { [log] listener, channel in
            // A listener that a signal has closed already has no port.
            guard !observability.serverState.isDraining,
                startup.recordOpen(listener, port: channel.localAddress?.port ?? 0)
            else { return }
            observability.serverState.finishStarting()
            ProcessMemory.releaseCode()
            startup.print(by: log)
        }
    }

    /// The web configuration, with no more connections than the limit of open file descriptors allows.
    private func webConfiguration(over client: GuardedHTTPClient) -> WebConfiguration {
        var configuration = settings.webConfiguration
        configuration.missingPermission = client.missingPermission
        configuration.setUnwritable(InstalledCodecs.current.unwritable)
        configuration.clientLimits.connections.maxConnections = descriptors.connections(
            settings.listeners.maxConnections, listeners: settings.adminAddress == nil ? 1 : 2, logger: logger)
        return configuration
    }

    private func readings(
        of caches: Caches, _ pipeline: ImagePipeline, _ prefetcher: Prefetcher, _ serverState: ServerState,
        _ pixels: PixelBackend, _ edges: EdgePurges, _ web: WebConfiguration, _ client: GuardedHTTPClient
    ) -> ServerMetrics {
        ServerMetrics(
            caches: caches, pipeline: pipeline, prefetcher: prefetcher, serverState: serverState,
            workers: pixels.workers, edges: edges.purger, log: log, traces: traces?.exporter,
            process: ProcessMetrics(startedAt: startedAt), accounts: web.accounts
        ) { client.inFlightBytes + (web.uploads?.usedBytes ?? 0) }
    }

    private func observability(
        serverState: ServerState, readings: ServerMetrics, caches: Caches, pixels: PixelBackend
    ) -> Observability {
        var observability = Observability(metrics: registry, serverState: serverState) {
            caches.tiers
        } isCacheHealthy: {
            caches.disk?.isHealthy() ?? true
        }
        observability.isHealthy = { pixels.workers?.isHealthy ?? true }
        observability.logsHits = settings.logging.hits
        observability.exposition = { [registry, observability] in
            registry.exposition(with: readings.families(isReady: observability.isReady))
        }
        observability.tracing = traces.map { RequestTracing(tracer: $0.tracer, sampler: $0.tracer.sampler) }
        observability.logsRequests = { [log] in log.level <= .info }
        observability.logRequest = { [log] in log.append($0) }
        return observability
    }

    /// Nil where the server runs without a disk cache because the folder is in use or read-only.
    private func openDisk() async throws(SettingError) -> DiskStore? {
        do throws(DiskStoreError) {
            return try await DiskStore(settings.diskConfiguration, logger: logger)
        } catch {
            switch error {
            case .inUse, .readOnly:
                logger.error("running without a disk cache", metadata: ["reason": "\(error)"])
                return nil
            case .notPrivate, .unusable: throw SettingError("\(SettingsTable.all.cache.directory.name): \(error).")
            }
        }
    }

    /// Runs the services until a signal ends them, which may have come before. Returns the failure that ended them
    /// otherwise, so that the caller can close everything else first.
    private func run(_ services: [any Service], until signal: AsyncStream<Void>) async -> (any Error)? {
        let group = ServiceGroup(services: services, logger: logger)
        let stop = Task { for await _ in signal { await group.triggerGracefulShutdown() } }
        defer { stop.cancel() }
        do {
            try await group.run()
            return nil
        } catch {
            return error
        }
    }
}
