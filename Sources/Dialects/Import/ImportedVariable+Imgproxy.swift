import DarkroomQuery
import Foundation

extension ImportedVariable {
    /// The variables of imgproxy that have a counterpart, or need an explanation.
    static let imgproxy: [ImportedVariable] =
        imgproxyServer + imgproxyAccess + imgproxySources + imgproxyOptions + imgproxyFormats

    private static let imgproxyServer: [ImportedVariable] = [
        ImportedVariable("IMGPROXY_BIND") { value, name, settings in
            guard let colon = value.lastIndex(of: ":"), let port = Int(value[colon...].dropFirst()) else {
                return settings.set("unix-socket", value, for: name)
            }
            let host = String(value[..<colon])
            settings.set("host", host.isEmpty ? "0.0.0.0" : host, for: name)
            settings.set("port", "\(port)", for: name)
        },
        .setting("IMGPROXY_TIMEOUT", as: "request-timeout", seconds),
        .setting("IMGPROXY_DOWNLOAD_TIMEOUT", as: "download-timeout", seconds),
        .setting("IMGPROXY_GRACEFUL_STOP_TIMEOUT", as: "shutdown-grace", seconds),
        .note(
            "IMGPROXY_READ_REQUEST_TIMEOUT", "IMGPROXY_READ_TIMEOUT",
            because: "The header fields of a request have 10 s, and a body has 'request-timeout'."),
        .setting("IMGPROXY_WRITE_RESPONSE_TIMEOUT", "IMGPROXY_WRITE_TIMEOUT", as: "write-timeout", seconds),
        .setting("IMGPROXY_KEEP_ALIVE_TIMEOUT", as: "idle-timeout", seconds),
        .setting("IMGPROXY_WORKERS", "IMGPROXY_CONCURRENCY", as: "pixel-workers", limit),
        .note(
            "IMGPROXY_REQUESTS_QUEUE_SIZE", because: "The queue is always bounded, for each worker ('queue-depth')."),
        .setting("IMGPROXY_MAX_CLIENTS", as: "max-connections", limit),
        .setting("IMGPROXY_TTL", as: "variant-max-age", seconds),
        .setting("IMGPROXY_PATH_PREFIX", as: "base-path"),
        .setting("IMGPROXY_LOG_LEVEL", as: "log-level") { $0 == "warn" ? "warning" : $0 },
        .setting("IMGPROXY_LOG_FORMAT", as: "log-format") {
            ["pretty": "text", "structured": "logfmt", "json": "json"][$0]
        },
        adminPort("IMGPROXY_PROMETHEUS_BIND"),
        .note("IMGPROXY_OPEN_TELEMETRY_ENABLE", because: "Set 'otlp-endpoint'."),
        .note("IMGPROXY_USE_ETAG", "IMGPROXY_USE_LAST_MODIFIED", because: "Validators are always sent."),
        .note(
            "IMGPROXY_CACHE_CONTROL_PASSTHROUGH", because: "Lifetimes always follow the origin; see 'respect-origin'."),
    ]

    private static let imgproxyAccess: [ImportedVariable] = [
        ImportedVariable("IMGPROXY_KEY", "IMGPROXY_KEYS") { value, _, settings in settings.parts["key"] = value },
        ImportedVariable("IMGPROXY_SALT", "IMGPROXY_SALTS") { value, _, settings in settings.parts["salt"] = value },
        .note("IMGPROXY_SIGNATURE_SIZE", because: "Signatures are complete: 32 bytes."),
        .note("IMGPROXY_TRUSTED_SIGNATURES", because: "Sign these paths, or request them with 'admin-token'."),
        .setting("IMGPROXY_ALLOW_ORIGIN", as: "cors-origins"),
        ImportedVariable("IMGPROXY_ALLOWED_SOURCES") { value, name, settings in
            for source in value.split(separator: ",") {
                guard let scheme = source.firstRange(of: "://"),
                    source[..<scheme.lowerBound].hasPrefix("http")
                else { continue }
                let host = source[scheme.upperBound...].prefix { !"/:?".contains($0) }
                if !host.isEmpty { settings.add(String(host), to: "allow-hosts", for: name) }
            }
            settings.note(name, "'allow-hosts' compares hosts only; paths are not compared.")
        },
        .networks("127.0.0.0/8,::1/128", if: "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES"),
        .networks("169.254.0.0/16,fe80::/10", if: "IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES"),
        .networks(
            "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7", if: "IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES"),
        .note("IMGPROXY_SECRET", because: "Requests for images carry no bearer token; sign their paths."),
        .note("IMGPROXY_SOURCE_URL_ENCRYPTION_KEY", because: "Encrypted source URLs are not supported."),
        .setting("IMGPROXY_ONLY_PRESETS", as: "presets-only", boolean),
        .note("IMGPROXY_ALLOWED_PROCESSING_OPTIONS", because: "Sign paths, or allow 'presets-only'."),
    ]

    private static let imgproxySources: [ImportedVariable] = [
        .setting("IMGPROXY_LOCAL_FILESYSTEM_ROOT", as: "local-root"),
        .setting("IMGPROXY_BASE_URL", as: "compat-base-url"),
        .note("IMGPROXY_BASE64_URL_INCLUDES_FILENAME", because: "A source in base64 ends the path."),
        .note("IMGPROXY_MAX_REDIRECTS", because: "At most ten redirects are followed."),
        .setting("IMGPROXY_MAX_SRC_RESOLUTION", as: "max-source-pixels") { text in
            Double(text).flatMap { $0 > 0 && $0 < 1e6 ? "\(Int($0 * 1_000_000))" : nil }
        },
        .setting("IMGPROXY_MAX_SRC_FILE_SIZE", as: "max-source-bytes", limit),
        .note("IMGPROXY_USE_S3", because: "Each bucket is a member of 's3-sources'."),
        .setting("IMGPROXY_S3_REGION", as: "s3-region"), .setting("IMGPROXY_S3_ENDPOINT", as: "s3-endpoint"),
        .setting("IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE", as: "s3-path-style", boolean),
        ImportedVariable("IMGPROXY_S3_ALLOWED_BUCKETS") { value, name, settings in
            for bucket in value.split(separator: ",") {
                settings.add("\(bucket)=\(bucket)/", to: "s3-sources", for: name)
            }
        },
        .note("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", because: "The status of a fallback image is 200."),
        .option("IMGPROXY_FALLBACK_IMAGE_URL") { "fiu:\(Base64URL.text(of: Data($0.utf8)))" },
    ]

    private static let imgproxyOptions: [ImportedVariable] = [
        ImportedVariable("IMGPROXY_PRESETS") { value, _, settings in settings.presets.append(value) },
        ImportedVariable("IMGPROXY_PRESETS_SEPARATOR") { value, _, settings in
            settings.parts["presets-separator"] = value
        },
        .note("IMGPROXY_PRESETS_PATH", because: "Append the lines of that file to 'imgproxy-presets', with commas."),
        .note("IMGPROXY_ARGUMENTS_SEPARATOR", because: "Arguments are separated by colons."),
        .setting("IMGPROXY_MAX_ANIMATION_FRAMES", as: "imgproxy-frames", limit),
        .setting("IMGPROXY_WATERMARK_URL", as: "imgproxy-watermark"),
        .note("IMGPROXY_WATERMARK_OPACITY", because: "Multiply the opacities of 'wm' in presets and URLs by it."),
        .note(
            "IMGPROXY_WATERMARK_PATH", "IMGPROXY_WATERMARK_DATA",
            because: "Set 'imgproxy-watermark' to a URL, such as local:///mark.png."),
        .option("IMGPROXY_AUTO_ROTATE") { isTrue($0) ? nil : "ar:0" },
        .option("IMGPROXY_RETURN_ATTACHMENT") { isTrue($0) ? "att:1" : nil },
        .option("IMGPROXY_MAX_RESULT_DIMENSION") { text in limit(text).map { "mrd:\($0)" } },
        .option("IMGPROXY_QUALITY") { "fq:jpeg:\($0)" },
        .option("IMGPROXY_FORMAT_QUALITY") { text in
            let pairs = text.split(separator: ",").map { $0.replacing("=", with: ":") }
            return pairs.isEmpty ? nil : "fq:\(pairs.joined(separator: ":"))"
        },
        .option("IMGPROXY_JPEG_PROGRESSIVE") { isTrue($0) ? "jpgo:1" : nil },
        .option("IMGPROXY_PNG_INTERLACED") { isTrue($0) ? "pngo:1" : nil },
        .option("IMGPROXY_PNG_QUANTIZE") { isTrue($0) ? "pngo::1" : nil },
        .option("IMGPROXY_AUTOQUALITY_METHOD") { $0 == "none" ? nil : "aq:\($0)" },
        .note("IMGPROXY_USE_LINEAR_COLORSPACE", because: "Only queries of Darkroom have it: 'resample=linear'."),
    ]

    private static let imgproxyFormats: [ImportedVariable] = [
        preferred("jxl"), preferred("avif"), preferred("webp"),
        .note("IMGPROXY_WEBP_EFFORT", because: "WebP is encoded with effort 4."),
        .setting("IMGPROXY_AVIF_SPEED", as: "avif-effort") { text in
            Int(text).flatMap { (0...9).contains($0) ? "\(9 - $0)" : nil }
        },
        .note("IMGPROXY_JXL_EFFORT", because: "JPEG XL is encoded with effort 4."),
        .setting("IMGPROXY_ENABLE_CLIENT_HINTS", as: "client-hints", boolean),
    ]

    private static func networks(_ networks: String, if name: String) -> ImportedVariable {
        ImportedVariable(name) { value, name, settings in
            if isTrue(value) { settings.add(networks, to: "allow-networks", for: name) }
        }
    }

    /// The detection of a format by `Accept`, in imgproxy's order of preference.
    private static func preferred(_ format: String) -> ImportedVariable {
        let name = format.uppercased()
        return ImportedVariable(
            "IMGPROXY_AUTO_\(name)", "IMGPROXY_ENFORCE_\(name)", "IMGPROXY_ENABLE_\(name)_DETECTION"
        ) { value, variable, settings in
            guard isTrue(value) else { return }
            let given = (settings.value(of: "imgproxy-formats") ?? "").split(separator: ",").map(String.init) + [format]
            let formats = ["jxl", "avif", "webp"].filter(given.contains)
            settings.set("imgproxy-formats", formats.joined(separator: ","), for: variable)
        }
    }

    /// Explanations for all variables that begin with a prefix.
    static let imgproxyGroups: [(prefix: String, reason: String)] = [
        ("IMGPROXY_CACHE_", "Results are always cached; see 'cache-dir' and 'cache-disk-bytes'."),
        ("IMGPROXY_GCS_", "Use the XML API of Cloud Storage by 's3-stores'."),
        ("IMGPROXY_ABS_", "Azure Blob Storage is read by https URLs only."),
        ("IMGPROXY_SWIFT_", "Swift is read by its S3 API; see 's3-stores'."),
        ("IMGPROXY_S3_", "Credentials come from the environment, as in AWS's own programs."),
        ("IMGPROXY_STRIP_", "See the parameter 'metadata'; profiles are always stripped."),
        ("IMGPROXY_KEEP_", "See the parameter 'metadata', by which rights are kept."),
        ("IMGPROXY_DATADOG_", "See 'otlp-endpoint' and /metrics."),
        ("IMGPROXY_NEW_RELIC_", "See 'otlp-endpoint' and /metrics."),
        ("IMGPROXY_CLOUD_WATCH_", "See /metrics."), ("IMGPROXY_OPEN_TELEMETRY_", "See 'otlp-endpoint'."),
        ("IMGPROXY_SYSLOG_", "The log goes to the standard error stream."),
        ("IMGPROXY_SENTRY_", "Errors are logged."), ("IMGPROXY_BUGSNAG_", "Errors are logged."),
        ("IMGPROXY_HONEYBADGER_", "Errors are logged."), ("IMGPROXY_AIRBRAKE_", "Errors are logged."),
        ("IMGPROXY_LICENSE_", "No license key is needed."),
        ("IMGPROXY_COOKIE_", "Cookies of clients are never sent to origins."),
    ]
}
