import DarkroomHTTPServer
import DarkroomRequests
import DarkroomWeb
import Logging

struct ListenerSettings: SettingTheme {
    let title = "Listeners and connections"

    let host = Setting(
        "host", .text("ADDRESS", "an address or host name"), default: "127.0.0.1", help: "Address to bind.")
    let port = Setting(
        "port", .integer(0...65_535), default: 8080,
        help: "Port to bind. 0 picks a free port, which the server prints.")
    let unixSocket = Setting(
        "unix-socket", .optional(.socketPath), default: nil,
        help: """
            Unix socket to bind instead of host and port, for a proxy on the same machine. Its permissions follow the \
            umask. All of its clients have the address 127.0.0.1.
            """)
    let basePath = Setting(
        "base-path", .basePath, default: "",
        help: """
            Path that a reverse proxy puts in front of all paths, such as /images. Requests are accepted with and \
            without it; URLs in responses include it.
            """)
    let ignoredParameters = Setting(
        "ignored-parameters", .list(of: .ignoredParameter), default: [],
        help: """
            Parameters that are removed from every URL before anything else reads it, such as utm_* and fbclid, which \
            mail and social tools append to links. Signatures and cache keys do not include them. A * at the end \
            stands for the rest of a name.
            """)
    let adminHost = Setting(
        "admin-host", .text("ADDRESS", "an address or host name"), default: "127.0.0.1",
        help: "Address to bind for admin-port.")
    let adminPort = Setting(
        "admin-port", .optional(.integer(0...65_535)), default: nil,
        help: """
            Separate port for /cache, /prefetch and /metrics, which the main port then no longer serves. Without \
            admin-token, anyone who can reach this port may use them. 0 picks a free port.
            """)
    let publicURL = Setting(
        "public-url", .optional(.webURL), default: nil,
        help: """
            Public base URL of this server, including the path of a proxy, for URLs in /srcset, from the sign command \
            and in the 'type' of problems. By default, URLs have no host and begin with base-path, unless one of \
            trusted-proxies states scheme and host, and types are as in /problems/overloaded.
            """)
    let trustedProxies = Setting(
        "trusted-proxies", .list(of: .network), default: [],
        help: """
            Networks of reverse proxies whose Forwarded and X-Forwarded-For fields identify the client. Without \
            public-url, Forwarded, X-Forwarded-Proto and X-Forwarded-Host also give the URLs of /srcset and /iiif \
            their scheme and host.
            """)
    let maxConnections = Setting(
        "max-connections", .integer(1...1_000_000), default: ConnectionLimits.default.maxConnections,
        help: """
            Maximum number of concurrent connections per listener. Further connections wait. The limit of open file \
            descriptors may lower this number. A client that is not in trusted-proxies has at most 1024 of them.
            """)
    let idleTimeout = Setting(
        "idle-timeout", .duration(), default: ConnectionLimits.default.idleTimeout,
        help: "Time after which an idle keep-alive connection is closed.")
    let writeTimeout = Setting(
        "write-timeout", .duration(), default: ConnectionLimits.default.writeTimeout,
        help: """
            Maximum time that a response waits for its client. Each byte that the client reads extends it by the time \
            that the byte takes at 8 KiB/s, up to this time again. Clients that are slower on average are disconnected.
            """)
    let shutdownGrace = Setting(
        "shutdown-grace", .duration(allowsZero: true), default: ConnectionLimits.default.shutdownGrace,
        help: """
            Time that in-flight requests get to finish after SIGTERM; the rest are answered with 503. A value below \
            request-timeout is logged as a warning.
            """)
}

struct AccessSettings: SettingTheme {
    let title = "Access"

    let adminToken = Setting(
        "admin-token", .optional(.token), default: nil, isSecret: true, isReloadable: true,
        help: """
            Bearer token for /cache, /prefetch, /metrics and forced refreshes. Prefer the environment or the file: \
            flags are visible in the process list.
            """)
    let adminTokenFile = Setting(
        "admin-token-file", .optional(.text("PATH", "the path of a file")), default: nil, isReloadable: true,
        help: "File that contains the admin token, in place of admin-token.")
    let signingKeys = Setting(
        "signing-keys", .signingKeys, default: [], isSecret: true, isReloadable: true,
        help: """
            Keys for signed URLs as ID:SECRET, with secrets of at least 32 characters. If any key is set, images \
            require a signature or the admin token. Prefer the environment or the file: flags are visible in the \
            process list.
            """)
    let signingKeysFile = Setting(
        "signing-keys-file", .optional(.text("PATH", "the path of a JSON file")), default: nil, isReloadable: true,
        help: "JSON file of additional signing keys, each optionally limited to hosts, presets, a rate and quotas.")
    let presets = Setting(
        "presets", .presets, default: [], isReloadable: true,
        help: """
            Named queries for the parameter 'preset', as NAME=QUERY such as avatar=w=96&h=96&fit=cover. In the \
            comma-separated form, write a comma within a query as %2C.
            """)
    let presetsOnly = Setting(
        "presets-only", .boolean, default: false, isReloadable: true,
        help: "Whether to accept only image requests that use a preset.")
    let openProxy = Setting(
        "open-proxy", .boolean, default: false, isReloadable: true,
        help: """
            Whether any client may have this server fetch from any public host. Required to bind a non-loopback \
            address without signing-keys or allow-hosts.
            """)
    let corsOrigins = Setting(
        "cors-origins", .corsOrigins, default: .none, isReloadable: true,
        help: "Origins whose scripts may read responses, such as https://www.example.com, or * for all (CORS).")
    let rateLimit = Setting(
        "rate-limit", .optional(.rate), default: nil, isReloadable: true,
        help: """
            Image requests per client as a token bucket: 20/s allows a burst of 20 and refills at 20 per second. \
            Excess requests without the admin token are refused with 429.
            """)
    let playground = Setting(
        "playground", .boolean, default: true,
        help: """
            Whether / serves the playground. It includes sample images, which any client can request as \
            local:///samples/…, unless local-root has files of these names.
            """)
    let allowRobots = Setting(
        "allow-robots", .boolean, default: false,
        help: """
            Whether /robots.txt lets crawlers fetch images. Search engines index the images of a site only if this is \
            true for the host that serves them.
            """)
    let iiif = Setting(
        "iiif", .boolean, default: false, isReloadable: true,
        help: """
            Whether /iiif serves the IIIF Image API, which scripts of all sites may read. If images require a \
            signature, /iiif serves sources with a short name of source-map without a signature. Behind a proxy, set \
            trusted-proxies or public-url.
            """)
    let compat = Setting(
        "compat", .choice(of: Dialect.self), default: .darkroom, isReloadable: true,
        help: """
            Service whose URLs the server accepts besides its own: the paths of imgproxy, of thumbor and imagor, or of \
            Cloudflare, below /cdn-cgi/image/. With wsrv, queries of /image, /signed and /explain without 'compat' and \
            'preset' have the parameters of wsrv.nl, as queries of / always do.
            """)
    let uploads = Setting(
        "uploads", .boolean, default: false,
        help: """
            Whether POST /image transforms the image in the body. Such images come from no host, so allow-hosts does \
            not limit them: a non-loopback address also requires signing-keys or open-proxy.
            """)
    let allowGPS = Setting(
        "allow-gps", .boolean, default: false, isReloadable: true,
        help: "Whether /info reports the GPS position of an image to any client that requests it with gps=true.")
}

struct LoggingSettings: SettingTheme {
    let title = "Logging"

    let level = Setting(
        "log-level", .choice(of: Logger.Level.self), default: .info, isReloadable: true,
        help: "Minimum level of logged events.")
    let format = Setting(
        "log-format", .choice(of: LogFormat.self), default: .text,
        help: "Format of log lines: text for people, one JSON object per line, or logfmt.")
    let hits = Setting(
        "log-hits", .boolean, default: true,
        help: """
            Whether to log hits: requests that a fresh cached image answers. Hits of a second or more are always \
            logged. 'false' is for collectors of logs that cannot keep up, or are paid by the line.
            """)
    let sources = Setting(
        "log-sources", .choice(of: LoggedSource.self), default: .host,
        help: """
            How much of a source's URL the access log contains: its host, the URL without its query (path), or all of \
            it (full). User names and passwords are never logged, nor values in the query that may be credentials; \
            choose host if paths contain signatures.
            """)
}
