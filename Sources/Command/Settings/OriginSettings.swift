import DarkroomOrigin
import Foundation
import HTTPTypes

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

extension SettingKind where Value == [OriginFields.Rule] {
    /// `HOST=NAME: VALUE,…`; in YAML also a map of hosts to maps of fields.
    static var originFields: SettingKind {
        let grammar = "HOST=NAME: VALUE, such as img.example.com=Referer: https://example.com/, with %2C for a comma"
        return SettingKind("HOST=NAME: VALUE,...", grammar, format: masked) { value throws(SettingRefusal) in
            var rules: [OriginFields.Rule] = []
            for member in value.members {
                if case .map(let hosts) = member {
                    for (host, fields) in hosts {
                        guard let named = try fields.namedTexts(grammar) else { throw .expected(grammar, got: nil) }
                        rules.append(try OriginFields.Rule(host, named.map { ($0.name, $0.text) }))
                    }
                    continue
                }
                let halves = member.text?.split(separator: "=", maxSplits: 1).map(String.init) ?? []
                let field = halves.last?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
                guard halves.count == 2, field.count == 2 else { throw .expected(grammar, got: nil) }
                rules.append(try OriginFields.Rule(halves[0], [(field[0], field[1].replacing("%2C", with: ","))]))
            }
            return rules
        }
    }
}

extension OriginFields.Rule {
    fileprivate init(_ host: String, _ fields: [(name: String, value: String)]) throws(SettingRefusal) {
        var all = HTTPFields()
        for (name, value) in fields {
            let value = value.trimmingCharacters(in: .whitespaces)
            guard let field = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw .because(
                    "a field of '\(host.prefix(100))' must have a name of letters, digits and '-', and a value in one "
                        + "line.")
            }
            guard OriginFields.allows(field) else {
                throw .because("'\(name)' cannot be set for '\(host.prefix(100))': this server sets it.")
            }
            all.append(HTTPField(name: field, value: value))
        }
        self.init(host: try SettingKind.hostGlob.parse(.text(host)), fields: all)
    }
}
