extension ImportedVariable {
    /// The variables of imagor that have a counterpart, or need an explanation.
    static let imagor: [ImportedVariable] = imagorServer + imagorSources + imagorLimits

    private static let imagorServer: [ImportedVariable] = [
        .setting("PORT", as: "port"), .setting("SERVER_ADDRESS", as: "host"),
        .setting("SERVER_PATH_PREFIX", as: "base-path"),
        ImportedVariable("SERVER_CORS") { value, name, settings in
            if isTrue(value) { settings.set("cors-origins", "*", for: name) }
        },
        .setting("IMAGOR_SECRET", as: "thumbor-key"),
        .setting("IMAGOR_SIGNER_TYPE", as: "thumbor-signature-type"),
        .setting("IMAGOR_SIGNER_TRUNCATE", as: "thumbor-signature-length", limit),
        .note("IMAGOR_UNSAFE", because: "Unsafe paths work where no key is set."),
        ImportedVariable("IMAGOR_AUTO_WEBP") { value, name, settings in
            if isTrue(value) { settings.add("webp", to: "formats", for: name) }
        },
        ImportedVariable("IMAGOR_AUTO_AVIF") { value, name, settings in
            guard isTrue(value) else { return }
            let other = settings.value(of: "formats").map { ",\($0)" } ?? ""
            settings.set("formats", "avif\(other)", for: name)
        },
        .setting("IMAGOR_REQUEST_TIMEOUT", as: "request-timeout", duration),
        .setting("IMAGOR_LOAD_TIMEOUT", as: "download-timeout", duration),
        .setting("IMAGOR_PROCESS_TIMEOUT", as: "max-processing-time", duration),
        .setting("IMAGOR_PROCESS_CONCURRENCY", as: "pixel-workers", limit),
        .note("IMAGOR_PROCESS_QUEUE_SIZE", because: "The queue is always bounded, for each worker ('queue-depth')."),
        .setting("IMAGOR_CACHE_HEADER_TTL", as: "variant-max-age", duration),
        .setting("IMAGOR_CACHE_HEADER_SWR", as: "stale-while-revalidate", duration),
        .note("IMAGOR_MODIFIED_TIME_CHECK", because: "Sources are always revalidated as they say."),
    ]

    private static let imagorSources: [ImportedVariable] = [
        .setting("HTTP_LOADER_ALLOWED_SOURCES", as: "allow-hosts"),
        .note("HTTP_LOADER_ALLOWED_SOURCE_REGEXP", because: "Write the hosts as patterns of 'allow-hosts'."),
        .setting("HTTP_LOADER_BASE_URL", as: "compat-base-url"),
        .setting("HTTP_LOADER_MAX_ALLOWED_SIZE", as: "max-source-bytes", limit),
        .note(
            "HTTP_LOADER_BLOCK_LOOPBACK_NETWORKS", "HTTP_LOADER_BLOCK_PRIVATE_NETWORKS",
            "HTTP_LOADER_BLOCK_LINK_LOCAL_NETWORKS",
            because: "Such networks are always blocked, except the networks in 'allow-networks'."),
        .setting("FILE_LOADER_BASE_DIR", as: "local-root"),
        .setting("AWS_REGION", "S3_REGION", as: "s3-region"), .setting("S3_ENDPOINT", as: "s3-endpoint"),
        .setting("S3_FORCE_PATH_STYLE", as: "s3-path-style", boolean),
        ImportedVariable("S3_LOADER_BUCKET") { value, name, settings in
            settings.add("\(value)=\(value)/", to: "s3-sources", for: name)
        },
        .setting("FILE_RESULT_STORAGE_BASE_DIR", as: "cache-dir"),
        .note(
            "FILE_STORAGE_BASE_DIR", because: "Originals and results share 'cache-dir'."),
        ImportedVariable("S3_RESULT_STORAGE_BUCKET") { value, name, settings in
            settings.note(name, "A shared tier of results is 'shared-store'; name the bucket in 's3-sources' first.")
        },
    ]

    private static let imagorLimits: [ImportedVariable] = [
        .note("VIPS_MAX_ANIMATION_FRAMES", because: "'max-animation-pixels' refuses animations with more pixels."),
        ImportedVariable("VIPS_MAX_WIDTH", "VIPS_MAX_HEIGHT") { value, name, settings in
            guard let side = Int(value), side > 0 else { return }
            let other = settings.value(of: "max-output-side").flatMap { Int($0) } ?? 0
            settings.set("max-output-side", "\(max(side, other))", for: name)
        },
        .setting("VIPS_MAX_RESOLUTION", as: "max-source-pixels", limit),
        .note("VIPS_CONCURRENCY", because: "Each worker uses one thread; see 'pixel-workers'."),
        adminPort("PROMETHEUS_BIND"),
    ]

    /// A duration of Go in one unit; nil for a duration in several units, and for 0.
    private static let duration: @Sendable (String) -> String? = { text in
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), count > 0, ["ms", "s", "m", "h"].contains(text[digits.endIndex...]) else {
            return nil
        }
        return text
    }

    /// Explanations for all variables that begin with a prefix.
    static let imagorGroups: [(prefix: String, reason: String)] = [
        ("GCLOUD_", "Use the XML API of Cloud Storage by 's3-stores'."),
        ("GOOGLE_", "Use the XML API of Cloud Storage by 's3-stores'."),
        ("AWS_", "Credentials come from the environment, as in AWS's own programs."),
        ("UPLOAD_LOADER_", "See 'uploads'."),
        ("SENTRY_", "Errors are logged."),
    ]
}
