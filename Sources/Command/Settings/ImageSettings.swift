import DarkroomMachine
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomTransforms
import DarkroomWorkers

struct LimitSettings: SettingTheme {
    let title = "Limits of a request"

    let requestTimeout = Setting(
        "request-timeout", .duration(), default: PipelineConfiguration().requestTimeout,
        help: "Maximum time from a request to its response, and to receive the body of an upload.")
    let maxSourceBytes = Setting(
        "max-source-bytes", .bytes(atLeast: 1), default: 50 << 20, help: "Maximum size of a source.")
    let maxSourcePixels = Setting(
        "max-source-pixels", .integer(1...10_000_000_000), default: PixelLimits().maxSourcePixels,
        help: "Maximum number of pixels of one frame of a source.")
    let maxAnimationPixels = Setting(
        "max-animation-pixels", .integer(1...10_000_000_000), default: PixelLimits().maxAnimationPixels,
        help: "Maximum number of pixels of all requested frames of an animation.")
    let maxOutputSide = Setting(
        "max-output-side", .integer(1...16_383), default: PixelLimits().maxOutputSide,
        help: "Maximum width and height of an output image, in pixels.")
    let maxOutputPixels = Setting(
        "max-output-pixels", .integer(1...4_000_000_000), default: PixelLimits().maxOutputPixels,
        help: "Maximum number of pixels of an output image.")
    let maxProcessingTime = Setting(
        "max-processing-time", .duration(), default: .milliseconds(PixelLimits().maxProcessingMilliseconds),
        help: """
            Maximum processor time of an image, as estimated from its header. An image that exceeds it is encoded with \
            less effort or, if the request does not name the format, in a cheaper format. If that is not enough, it is \
            refused, and the response names the parameter to change. An image that takes far more time than estimated \
            is stopped and quarantined.
            """)
}

struct ProcessingSettings: SettingTheme {
    let title = "Image processing"

    let pixelWorkers = Setting(
        "pixel-workers", .integer(1...1024), default: ResourceDefaults.current.pixelWorkers,
        shownAs: "number of usable CPU cores", help: "Number of images that are processed concurrently.")
    let queueDepth = Setting(
        "queue-depth", .integer(0...100_000), default: PipelineConfiguration().queueDepth,
        help: "Maximum number of images that wait for each pixel worker. Further requests are refused with 503.")
    let memoryBudget = Setting(
        "memory-budget", .bytes(atLeast: 1), default: ResourceDefaults.current.memoryBudgetBytes,
        shownAs: "a quarter of the usable memory",
        help: """
            Byte budget of all images in processing, as estimated from their headers. An image that exceeds the whole \
            budget is processed alone. Half of it, in addition, is the budget of all sources being downloaded or \
            processed: further downloads wait, and a single one may exceed it. Another half is the budget of all \
            responses in memory that wait for slow clients, and twice the budget of one client: beyond it, the slowest \
            clients are disconnected, and a single response may exceed it. Uploads have an eighth for themselves.
            """)
    let workerMemory = Setting(
        "worker-memory", .bytes(atLeast: 256 << 20), default: 2 << 30,
        help: "Memory limit of one worker process. An image that exceeds it is refused with 413.")
    let isolation = Setting(
        "isolation", .choice(of: Isolation.self), default: .auto,
        help: """
            Where images are decoded: in fully sandboxed worker processes, or the server does not start (strict); in \
            worker processes with the sandbox layers that the system supports (auto); or in the server process (none).
            """)
    let quarantine = Setting(
        "quarantine", .duration(allowsZero: true), default: .seconds(3600),
        help: """
            Time for which an image that crashed a worker is refused without being processed again. 0 disables it, to \
            find out whether an update has mended the crash.
            """)
    let damaged = Setting(
        "damaged", .choice(of: DamagePolicy.self), default: .refuse,
        help: "Default of the query parameter 'damaged'.")
    let gamut = Setting(
        "gamut", .choice(of: Gamut.self), default: .sRGB, help: "Default of the query parameter 'gamut'.")
    let faces = Setting(
        "faces", .boolean, default: false,
        help: """
            Whether requests may have faces looked for: a=face, redact=face and the field faces of /info. It takes a \
            build with \(FaceDetector.package).
            """)
    let aiLabel = Setting(
        "ai-label", .choice(of: AILabel.Place.self), default: AILabel.Place.none,
        help: """
            Corner in which images get a label whose metadata says that a generative model made them, wholly or in \
            part (IPTC's digital source type).
            """)
    let avifEffort = Setting(
        "avif-effort", .integer(EncoderEfforts.avifRange), default: EncoderEfforts().avif,
        help: "Effort of the AVIF encoder to make smaller files; 2 takes half as long as 3, and 4 three times as long.")
}

struct FormatSettings: SettingTheme {
    let title = "Formats"

    let formats = Setting(
        "formats", .formats, default: NegotiationPolicy().formats, isReloadable: true,
        help: """
            Formats that output=auto chooses from, the preferred one first: \(FormatList.names), to clients whose \
            Accept field names them.
            """)
    let avifBudget = Setting(
        "avif-budget", .duration(allowsZero: true), default: PipelineConfiguration().encodingBudget,
        help: """
            Maximum estimated time to encode a negotiated AVIF or JPEG XL before the response. Above it, the first \
            responses have the client's next format, while the preferred format is made in the background. 0 makes all \
            requests wait.
            """)
    let clientHints = Setting(
        "client-hints", .boolean, default: NegotiationPolicy().usesClientHints, isReloadable: true,
        help: """
            Whether the fields Sec-CH-Width and Sec-CH-DPR give the size of images whose URL has no width and height, \
            or no dpr. They become part of Accept-CH and Vary, so each size is cached separately.
            """)
}

extension SettingKind where Value == FormatList {
    /// Formats in order, none of them twice.
    static var formats: SettingKind {
        let grammar = "one or more of \(FormatList.names), each once"
        return SettingKind("FORMAT,...", grammar, format: \.text) { value throws(SettingRefusal) in
            let text = value.members.map { $0.text ?? $0.shape }.joined(separator: ",")
            guard let list = FormatList(parsing: text) else { throw .expected(grammar, got: text) }
            return list
        }
    }
}
