import DarkroomNetwork

extension SettingKey {
    /// How the default reads in help and documentation.
    var standardText: String {
        switch self {
        case .cacheDir: "the platform's cache folder"
        case .pixelWorkers: "one a core"
        case .memoryBudget: "a quarter of the memory"
        case .maxInFlightBytes: "half of memory-budget"
        default: standard.isEmpty ? "none" : standard
        }
    }

    /// What the setting does, with its unit.
    var help: String {
        switch self {
        case .host: "Address to listen on."
        case .port: "Port to listen on; 0 = any free port, which is printed."
        case .adminHost: "Address to listen on at admin-port."
        case .adminPort:
            "Port for /cache, /prefetch and /metrics, which port then does not answer: whoever can reach it may use them, unless admin-token is set; 0 = any free port."
        case .trustedProxies:
            "Networks (CIDR) of proxies that are believed when Forwarded or X-Forwarded-For says for whom they ask. Comma-separated."
        case .rateLimit:
            "How often a client may ask for pictures, as in 20/s, 600/m or 1000/h: so many at once, and as many again in each second, minute or hour. Without the admin token, more are refused with 429."
        case .maxConnections:
            "Connections at a time, at each port; further ones wait. The limit of open files may lower it."
        case .maxConnectionsPerClient:
            "Connections at a time of one client (an IPv4 address, or an IPv6 network of 64 bits), unless it is a trusted proxy; further ones are closed."
        case .headerTimeout: "Time for a request's header fields. Duration."
        case .bodyTimeout: "Time for a request's body. Duration."
        case .idleTimeout: "Time that a connection is kept without a request. Duration."
        case .writeTimeout: "Time without a client taking anything of its answer, after which it is cut off. Duration."
        case .shutdownGrace: "Time that requests under way have after SIGTERM; then they are cut off. Duration."
        case .cacheDir: "Folder of the disk cache. One server at a time may use it."
        case .cacheDiskBytes: "Bytes of the disk cache; 0 = none."
        case .cacheMemoryBytes: "Bytes of the memory cache; 0 = none."
        case .cacheMemoryLowWater:
            "Percent of the memory caches that is left each time the system runs short of memory, 0 to 100."
        case .cacheDecodedBytes: "Bytes of decoded pictures of originals in demand; 0 = none."
        case .cacheMaxAge: "Age at which entries of the disk cache are removed. Duration."
        case .cacheExpireBy: "What that age counts from: access, modification or creation."
        case .cacheKeyDropQuery:
            "Query parameters that do not count for the cache, as HOSTGLOB=NAMEGLOB,NAMEGLOB rules; * drops the whole query."
        case .respectOrigin:
            "Whether caching fields of origins are obeyed; false = every picture is kept and fresh for default-fresh."
        case .defaultFresh: "How long an original is fresh where its origin says nothing. Duration or 0."
        case .minFresh: "Shorter lifetimes that origins give are raised to this. Duration or 0."
        case .maxFresh: "Longest time that an original is fresh, whatever its origin says. Duration."
        case .staleWhileRevalidate:
            "How long after that an answer may be stale while the origin is asked, where it says nothing. Duration or 0."
        case .staleIfError:
            "How long after that an answer may be stale because the origin fails, where it says nothing. Duration or 0."
        case .variantMaxAge: "Longest time that clients may use an answer. Duration or 0."
        case .allowLongerMaxAge:
            "Whether maxage may give clients more time than the origin does, up to variant-max-age: true or false."
        case .allowForcedRefresh:
            "Whether clients without the admin token may have the origin asked although an answer is fresh: true or false."
        case .allowGPS: "Whether /info tells anybody who asks with gps=true where a picture was taken: true or false."
        case .adminToken:
            "Bearer token for /cache, /prefetch, /metrics and forced refreshes, at least 16 characters. Rather not as a flag: those can be seen."
        case .signingKeys:
            "Keys as ID:SECRET, secrets of at least 32 characters: where there is one, pictures take a signature or the admin token. Comma-separated. Rather not as a flag: those can be seen."
        case .signingKeysFile: "JSON file of more keys, which may have hosts, presets and a rate of their own."
        case .presets:
            "Queries that the parameter preset may name, as NAME=QUERY such as avatar=w=96&h=96&fit=cover. Comma-separated; a comma within a query is %2C."
        case .presetsOnly: "Whether pictures are made by presets alone: true or false."
        case .openProxy:
            "Whether anybody who reaches this server may have it ask any public host: true or false. Without signing-keys and allow-hosts it listens beyond this machine only if so."
        case .corsOrigins:
            "Sites whose scripts may read pictures and what is told of them, such as https://www.example.com, or * for all. Comma-separated."
        case .fallbackStatus: "Status of an answer with the picture that the query parameter default names, 200 to 599."
        case .publicURL:
            "Where clients reach this server, such as https://img.example.com, for addresses in /srcset; none = they are relative."
        case .continueInBackground:
            "Whether work that nobody waits for any more is finished and kept: true or false."
        case .localRoot: "Folder that local:/// sources are read from."
        case .allowNetworks:
            "Networks (CIDR) that may be contacted though they are not public, on any port. Comma-separated."
        case .allowHosts: "Hosts that may be contacted, as globs; none = any public host. Comma-separated."
        case .allowPorts: "Ports that may be contacted. Comma-separated."
        case .insecureTLSHosts:
            "Hosts whose certificates are not verified, as globs: whoever is on the way can replace their pictures. Comma-separated."
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
        case .pixelWorkers: "Pictures that are decoded, transformed and encoded at a time."
        case .workerMemory: "Bytes that one worker process may take; a picture that takes more is refused with 413."
        case .isolation:
            "Where pictures are decoded: strict (sandboxed worker processes, or no start), auto (with what layers the system has), none (in the server)."
        case .quarantine: "How long a picture that killed a worker is refused at once. Duration or 0."
        case .queueDepth: "Pictures that may wait for each of them; more are refused with 503."
        case .memoryBudget:
            "Bytes that pictures in work may take together, as foretold from their headers; what takes more than all of it is worked on alone."
        case .prefetchConcurrency: "Pictures of all prefetching jobs that are worked on at a time."
        case .resample: "What leaving out the query parameter means: fast, accurate or linear."
        case .downloadsPerHost: "Downloads at a time from one host."
        case .maxDownloads: "Downloads at a time."
        case .maxInFlightBytes:
            "Bytes of downloads at a time, with those that are whole but still in work; more wait. One download alone may pass it."
        case .downloadOrder:
            "Which of the downloads that wait for a host is next, the oldest or the newest: fifo or lifo."
        case .logLevel: "trace, debug, info, notice, warning, error or critical."
        case .logFormat: "text or json."
        }
    }
}
