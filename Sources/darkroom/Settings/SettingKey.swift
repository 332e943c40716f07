/// Every setting: the one list that flags, environment, file, help and the README's table come from.
///
/// A key's name has three spellings: `--max-source-bytes`, `DARKROOM_MAX_SOURCE_BYTES`, `max-source-bytes:`.
enum SettingKey: String, CaseIterable, Sendable {
    case host
    case port
    case cacheDir = "cache-dir"
    case cacheDiskBytes = "cache-disk-bytes"
    case cacheMemoryBytes = "cache-memory-bytes"
    case cacheKeyDropQuery = "cache-key-drop-query"
    case originalMaxAge = "original-max-age"
    case variantMaxAge = "variant-max-age"
    case localRoot = "local-root"
    case allowNetworks = "allow-networks"
    case allowHosts = "allow-hosts"
    case allowPorts = "allow-ports"
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
    case queueDepth = "queue-depth"
    case resample
    case downloadsPerHost = "downloads-per-host"
    case maxDownloads = "max-downloads"
    case logLevel = "log-level"
    case logFormat = "log-format"

    var name: String { rawValue }
    var flag: String { "--\(name)" }
    var environmentName: String { "DARKROOM_\(name.uppercased().split(separator: "-").joined(separator: "_"))" }

    /// What applies where nobody says otherwise, in the words of the setting; empty = none.
    var standard: String {
        switch self {
        case .host: "127.0.0.1"
        case .port: "8080"
        case .cacheDir: CacheFolder.standard
        case .cacheDiskBytes: "10GiB"
        case .cacheMemoryBytes: "256MiB"
        case .cacheKeyDropQuery, .localRoot, .allowNetworks, .allowHosts: ""
        case .originalMaxAge, .variantMaxAge: "1d"
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
        case .pixelWorkers: ""
        case .queueDepth: "64"
        case .resample: "fast"
        case .downloadsPerHost: "6"
        case .maxDownloads: "64"
        case .logLevel: "info"
        case .logFormat: "text"
        }
    }

    /// How the default reads in help and documentation.
    var standardText: String {
        switch self {
        case .cacheDir: "the platform's cache folder"
        case .pixelWorkers: "one a core"
        default: standard.isEmpty ? "none" : standard
        }
    }

    /// What the setting does, with its unit.
    var help: String {
        switch self {
        case .host: "Address to listen on."
        case .port: "Port to listen on; 0 = any free port, which is printed."
        case .cacheDir: "Folder of the disk cache. One server at a time may use it."
        case .cacheDiskBytes: "Bytes of the disk cache; 0 = none."
        case .cacheMemoryBytes: "Bytes of the memory cache; 0 = none."
        case .cacheKeyDropQuery:
            "Query parameters that do not count for the cache, as HOSTGLOB=NAMEGLOB,NAMEGLOB rules; * drops the whole query."
        case .originalMaxAge:
            "How long originals, and variants made from them, are used without asking the origin again. Duration."
        case .variantMaxAge: "Freshness that clients are given. Duration."
        case .localRoot: "Folder that local:/// sources are read from."
        case .allowNetworks:
            "Networks (CIDR) that may be contacted though they are not public, on any port. Comma-separated."
        case .allowHosts: "Hosts that may be contacted, as globs; none = any public host. Comma-separated."
        case .allowPorts: "Ports that may be contacted. Comma-separated."
        case .maxSourceBytes: "Bytes of a source."
        case .maxSourcePixels: "Pixels of one frame of a source."
        case .maxAnimationPixels: "Pixels of all frames used of an animation."
        case .maxFrames: "Frames of an animation."
        case .maxOutputSide: "Pixels of a result's longer side."
        case .maxOutputPixels: "Pixels of a result."
        case .maxRedirects: "Redirects that are followed."
        case .connectTimeout: "Time for one connection to an origin. Duration."
        case .downloadTimeout: "Time for a whole download. Duration."
        case .requestTimeout: "Time for a whole request. Duration."
        case .pixelWorkers: "Threads that decode, transform and encode."
        case .queueDepth: "Pictures that may wait for each of them; more are refused with 503."
        case .resample: "What leaving out the query parameter means: fast, accurate or linear."
        case .downloadsPerHost: "Downloads at a time from one host."
        case .maxDownloads: "Downloads at a time."
        case .logLevel: "trace, debug, info, notice, warning, error or critical."
        case .logFormat: "text or json."
        }
    }
}
