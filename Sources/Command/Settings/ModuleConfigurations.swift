import DarkroomDialects
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWeb
import DarkroomWorkers

/// The configuration of each module, from the settings.
extension Settings {
    var webConfiguration: WebConfiguration {
        var configuration = WebConfiguration.default
        configuration.address = address
        configuration.adminAddress = adminAddress
        configuration.basePath = self.listeners.basePath
        configuration.ignoredParameters = IgnoredParameters(self.listeners.ignoredParameters)
        configuration.variantMaxAge = self.freshness.variantMaxAge
        configuration.missingMaxAge = self.freshness.missingMaxAge
        configuration.allowGPS = self.access.allowGPS
        configuration.uploads = uploadBudget
        configuration.adminToken = adminToken
        configuration.publicURL = self.listeners.publicURL
        configuration.viaPseudonym = GuardedHTTPClient.Settings().viaPseudonym
        configuration.limits = grammarLimits
        configuration.pixelLimits = pixelLimits
        configuration.maxSourceBytes = self.limits.maxSourceBytes
        configuration.clientLimits = clientLimits
        configuration.access = accessRules
        configuration.sourceMap = sourceNames
        configuration.servesPlayground = self.access.playground
        configuration.hasLocalFiles = self.origins.localRoot != nil
        configuration.allowsRobots = self.access.allowRobots
        configuration.servesIIIF = self.access.iiif
        configuration.negotiation = NegotiationPolicy(
            formats: self.formats.formats, usesClientHints: self.formats.clientHints)
        configuration.dialect = self.access.compat.queryDialect
        configuration.pathDialect = pathDialect
        configuration.logSources = self.logging.sources
        configuration.responseTags = self.edges.responseTags
        return configuration
    }

    /// A quarter of the budget of downloads, and at least one source.
    private var uploadBudget: UploadBudget? {
        guard self.access.uploads else { return nil }
        let maxSourceBytes = self.limits.maxSourceBytes
        return UploadBudget(budgetBytes: max(transferBytes / 4, maxSourceBytes), maxSourceBytes: maxSourceBytes)
    }

    var clientLimits: ClientLimits {
        var limits = ClientLimits.default
        limits.trustedProxies = self.listeners.trustedProxies
        limits.rateLimit = self.access.rateLimit
        limits.connections.maxConnections = self.listeners.maxConnections
        limits.connections.bodyTimeout = self.limits.requestTimeout
        limits.connections.idleTimeout = self.listeners.idleTimeout
        limits.connections.writeTimeout = self.listeners.writeTimeout
        limits.connections.shutdownGrace = self.listeners.shutdownGrace
        return limits
    }

    /// The bounds of query parameters.
    var grammarLimits: QueryLimits {
        var limits = QueryLimits(
            maxOutputSide: self.limits.maxOutputSide, defaultDamaged: self.processing.damaged,
            defaultGamut: self.processing.gamut)
        limits.findsFaces = findsFaces
        return limits
    }

    private var findsFaces: Bool { self.processing.faces && FaceDetector.isBuiltIn }

    var pixelLimits: PixelLimits {
        PixelLimits(
            maxSourcePixels: self.limits.maxSourcePixels, maxAnimationPixels: self.limits.maxAnimationPixels,
            maxOutputSide: self.limits.maxOutputSide, maxOutputPixels: self.limits.maxOutputPixels,
            maxProcessingMilliseconds: Int(self.limits.maxProcessingTime / .milliseconds(1)))
    }

    var freshnessPolicy: FreshnessPolicy {
        FreshnessPolicy(
            defaultFresh: self.freshness.defaultFresh, minFresh: self.freshness.minFresh,
            staleWhileRevalidate: self.freshness.staleWhileRevalidate, staleIfError: self.freshness.staleIfError,
            respectsOrigin: self.freshness.respectOrigin,
            remembersFailures: self.freshness.failureMemory)
    }

    var pipelineConfiguration: PipelineConfiguration {
        PipelineConfiguration(
            limits: pixelLimits, efforts: EncoderEfforts(avif: self.processing.avifEffort),
            pixelWorkers: self.processing.pixelWorkers, queueDepth: self.processing.queueDepth,
            memoryBudgetBytes: self.processing.memoryBudget, requestTimeout: self.limits.requestTimeout,
            freshness: freshnessPolicy, encodingBudget: self.formats.avifBudget, aiLabel: self.processing.aiLabel)
    }

    var clientSettings: GuardedHTTPClient.Settings {
        var client = GuardedHTTPClient.Settings()
        client.hosts = HostPolicy(allowHosts: self.origins.allowHosts, allowPorts: Set(self.origins.allowPorts))
        client.mappedSources = sourceNames
        client.addresses = AddressPolicy(allowNetworks: self.origins.allowNetworks)
        client.maxSourceBytes = self.limits.maxSourceBytes
        client.fields = OriginFields(self.origins.fields)
        client.connectTimeout = self.origins.connectTimeout
        client.downloadTimeout = self.origins.downloadTimeout
        client.downloadsPerHost = self.origins.downloadsPerHost
        client.insecureTLSHosts = self.origins.insecureTLSHosts
        client.maxDownloads = self.origins.maxDownloads
        client.maxInFlightBytes = transferBytes
        client.userAgent = "darkroom/\(Darkroom.release)"
        return client
    }

    /// The budget of sources that are downloaded or processed, and the budget of responses that wait for slow clients:
    /// half of `memory-budget` each.
    var transferBytes: Int { max(self.processing.memoryBudget / 2, 1) }

    var diskConfiguration: DiskStore.Configuration {
        var disk = DiskStore.Configuration(directory: self.cache.directory)
        disk.budgetBytes = self.cache.diskBytes
        disk.maxAge = self.cache.maxAge
        disk.keepsRecordsLonger = self.objectStorage.sharedStore != nil
        return disk
    }

    var workerConfiguration: WorkerConfiguration {
        // Four samples of two bytes per pixel, uncompressed.
        let largestResult = max(self.limits.maxOutputPixels, self.limits.maxAnimationPixels) * 8 + 1 << 20
        var workers = WorkerConfiguration(
            workers: self.processing.pixelWorkers, isolation: self.processing.isolation,
            decodedBytes: self.cache.decodedBytes,
            memoryBytes: self.processing.workerMemory, maxResultBytes: min(largestResult, self.processing.workerMemory),
            jobTimeout: self.limits.requestTimeout, quarantine: self.processing.quarantine)
        workers.subcommand = EntryPoint.zygoteCommand
        workers.findsFaces = findsFaces
        return workers
    }
}
