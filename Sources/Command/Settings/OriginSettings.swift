import DarkroomOrigin

struct OriginSettings: SettingTheme {
    let title = "Origins and downloads"

    let allowHosts = Setting(
        "allow-hosts", .list(of: .hostGlob), default: [], isReloadable: true,
        help: "Hosts that sources may be fetched from. By default, any public host.")
    let allowNetworks = Setting(
        "allow-networks", .list(of: .network), default: [], isReloadable: true,
        help: "Non-public networks that sources may be fetched from, on any port.")
    let allowPorts = Setting(
        "allow-ports", .list(of: .integer(1...65_535)), default: [80, 443], isReloadable: true,
        help: "Ports that sources may be fetched from.")
    let insecureTLSHosts = Setting(
        "insecure-tls-hosts", .list(of: .hostGlob), default: [],
        help: "Hosts whose TLS certificates are not verified. Anyone on the network path can replace their images.")
    let fields = Setting(
        "origin-fields", .originFields, default: [], isSecret: true, isReloadable: true,
        help: """
            Request fields for the hosts that match a pattern, such as User-Agent, Referer or Authorization, as \
            HOST=NAME: VALUE. They are sent to these hosts only.
            """)
    let forbiddenIsMissing = Setting(
        "forbidden-is-missing", .list(of: .sourceGlob), default: [],
        help: """
            Hosts and buckets (s3://NAME) whose 403 means that the image does not exist, such as buckets whose \
            objects cannot be listed.
            """)
    let localRoot = Setting(
        "local-root", .optional(.text("PATH", "the path of a folder")), default: nil,
        help: "Folder of local:/// sources. By default, only the playground's own images are local sources.")
    let maxRedirects = Setting(
        "max-redirects", .integer(0...20), default: client.maxRedirects,
        help: "Maximum number of redirects to follow per download.")
    let connectTimeout = Setting(
        "connect-timeout", .duration(), default: client.connectTimeout,
        help: "Maximum time to connect to an origin.")
    let downloadTimeout = Setting(
        "download-timeout", .duration(), default: client.downloadTimeout,
        help: "Maximum time of a download, including redirects.")
    let downloadsPerHost = Setting(
        "downloads-per-host", .integer(1...10_000), default: client.downloadsPerHost,
        help: "Maximum number of concurrent downloads per host.")
    let maxDownloads = Setting(
        "max-downloads", .integer(1...100_000), default: client.maxDownloads,
        help: "Maximum number of concurrent downloads.")

    private static let client = GuardedHTTPClient.Settings()
}
