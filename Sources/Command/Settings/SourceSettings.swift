import DarkroomNetwork
import DarkroomObjectStorage

struct SourceSettings: SettingTheme {
    let title = "Sources from object stores, and short names"

    let sourceMap = Setting(
        "source-map", .sourceMap, default: SourceMap(), isReloadable: true,
        help: """
            Short names for the beginnings of source URLs, as name=URL. With shop=s3://media/products/, the source \
            shop:shoes/1.jpg is s3://media/products/shoes/1.jpg. Clients do not learn the URL. Sources below these \
            URLs need not be in allow-hosts and allow-ports.
            """)
    let marks = Setting(
        "marks", .marks, default: [], isReloadable: true,
        help: """
            Names of watermarks for the parameter mark, as name=URL, such as logo=local:///logo.png. The URL may begin \
            with a name of source-map. Clients do not learn it, and it need not be in allow-hosts and allow-ports.
            """)
    let s3Sources = Setting(
        "s3-sources", .objectSources, default: [],
        help: """
            Buckets that s3://name/key sources are read from, as name=bucket or name=bucket/prefix/ to allow only keys \
            with a prefix. A store of s3-stores goes in front of the bucket, as in name=store:bucket.
            """)
    let s3Stores = Setting(
        "s3-stores", .objectStores, default: [],
        help: """
            Further S3-compatible stores for s3-sources, as name=URL with the options region, path-style and profile, \
            such as minio=http://minio:9000?region=us-east-1&profile=minio. The profile of the shared credentials file \
            replaces the credentials of s3-endpoint.
            """)
}

/// A row of `marks`.
struct MarkDefinition: Equatable, Sendable {
    var name: String
    /// The URL as given, which may begin with a name of `source-map`.
    var source: String

    var text: String { "\(name)=\(source)" }
}

/// A row of `s3-sources`.
struct ObjectSourceDefinition: Equatable, Sendable {
    var name: String
    /// The name in `s3-stores`; nil = the store of `s3-endpoint`.
    var store: String?
    var bucket: BucketName
    /// Empty, or ends with `/`.
    var prefix: String

    var text: String { "\(name)=\(store.map { "\($0):" } ?? "")\(bucket)\(prefix.isEmpty ? "" : "/\(prefix)")" }
}

/// A row of `s3-stores`.
struct ObjectStoreDefinition: Sendable {
    var name: String
    var settings: ObjectStoreSettings
    /// The profile of the shared credentials file; nil = the credentials of `s3-endpoint`.
    var profile: String?

    var text: String {
        let isPath = settings.endpoint.addressing == .path
        let options = ["region=\(settings.region)", "path-style=\(isPath)"] + (profile.map { ["profile=\($0)"] } ?? [])
        return "\(name)=\(settings.endpoint.url.origin)?\(options.joined(separator: "&"))"
    }
}

extension SettingKind where Value == SourceMap {
    /// `NAME=URL,…`; in YAML also a map.
    static var sourceMap: SettingKind {
        let grammar = "NAME=URL, such as shop=s3://media/products/,cdn=https://img.example.com/"
        return SettingKind("NAME=URL,...", grammar) { map in
            let rows = map.targets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.url.canonical)" }
            return rows.isEmpty ? "none" : rows.joined(separator: ",")
        } parseValue: { value throws(SettingRefusal) in
            var map = SourceMap()
            for (name, url) in try value.rows(grammar) {
                do throws(SourceMap.Flaw) { try map.add(name, url) } catch { throw .because("\(error)") }
            }
            return map
        }
    }
}

extension SettingKind where Value == SourcePrefix {
    /// The beginning of source URLs. A final `/` may be missing.
    static var sourcePrefix: SettingKind {
        let grammar = "an http, https, s3 or local URL without user, query and fragment, such as https://example.com/"
        return SettingKind("URL", grammar, format: \.url.canonical) { value throws(SettingRefusal) in
            guard let text = value.text, let prefix = SourcePrefix(text.hasSuffix("/") ? text : text + "/") else {
                // The text may be a URL with a password.
                throw .expected(grammar, got: nil)
            }
            return prefix
        }
    }
}

extension SettingKind where Value == [MarkDefinition] {
    /// `NAME=URL,…`; in YAML also a map.
    static var marks: SettingKind {
        let grammar = "NAME=URL, such as logo=local:///logo.png,seal=https://img.example.com/seal.svg"
        return SettingKind("NAME=URL,...", grammar, members: \.text) { value throws(SettingRefusal) in
            try value.rows(grammar).map { MarkDefinition(name: $0.name, source: $0.text) }
        }
    }
}

extension SettingKind where Value == [ObjectSourceDefinition] {
    /// `NAME=BUCKET/PREFIX/,…`; in YAML also a map.
    static var objectSources: SettingKind {
        let grammar = "NAME=BUCKET or NAME=STORE:BUCKET/PREFIX/, such as media=media-bucket/products/"
        return SettingKind("NAME=BUCKET,...", grammar, members: \.text) { value throws(SettingRefusal) in
            var sources: [ObjectSourceDefinition] = []
            for (name, target) in try value.rows(grammar, named: { ($0.prefix { $0 != "/" }.description, $0) }) {
                let source = try ObjectSourceDefinition(name, target)
                if let other = sources.first(where: { $0.name == source.name }),
                    other.store != source.store || other.bucket != source.bucket
                {
                    throw .because("'\(source.name)' stands for two buckets.")
                }
                sources.append(source)
            }
            return sources
        }
    }
}

extension SettingKind where Value == [ObjectStoreDefinition] {
    /// `NAME=URL?region=…&path-style=…&profile=…,…`; in YAML also a map.
    static var objectStores: SettingKind {
        let grammar = "NAME=URL, such as minio=http://minio:9000?region=us-east-1&profile=minio"
        return SettingKind("NAME=URL,...", grammar, members: \.text) { value throws(SettingRefusal) in
            var stores: [ObjectStoreDefinition] = []
            for (name, url) in try value.rows(grammar) {
                let store = try ObjectStoreDefinition(name, url)
                guard !stores.contains(where: { $0.name == store.name }) else {
                    throw .because("the store '\(store.name)' is given twice.")
                }
                stores.append(store)
            }
            return stores
        }
    }
}

extension ObjectSourceDefinition {
    /// Sentences do not repeat the target, which may be anything by mistake.
    fileprivate init(_ name: String, _ target: String) throws(SettingRefusal) {
        let name = name.lowercased()
        guard (try? SourceURL(parsing: "s3://\(name)/x"))?.host?.description == name else {
            throw .because(
                "the source '\(name.prefix(63))' must be 1 to 63 letters, digits, '-', '_' and '.', with a letter or "
                    + "digit at both ends.")
        }
        let parts = target.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.last ?? ""
        let slash = path.firstIndex(of: "/")
        let prefix = slash.map { String(path[path.index(after: $0)...]) } ?? ""
        guard prefix.isEmpty || (try? SourceURL(parsing: "s3://x/\(PercentEncoding.encode(prefix))")) != nil,
            prefix.isEmpty || prefix.hasSuffix("/")
        else {
            throw .because(
                "the prefix of the source '\(name)' must end with '/' and have no segments '.' and '..'.")
        }
        do throws(ObjectStorageError) {
            let bucket = try BucketName(String(path[..<(slash ?? path.endIndex)]))
            self.init(
                name: name, store: parts.count == 2 ? parts[0].lowercased() : nil, bucket: bucket, prefix: prefix)
        } catch {
            throw .because("the source '\(name)': \(error)")
        }
    }
}

extension ObjectStoreDefinition {
    /// The name of the store of `s3-endpoint`.
    static let defaultName = "default"

    /// Sentences do not repeat the URL, which may hold a password by mistake.
    fileprivate init(_ name: String, _ url: String) throws(SettingRefusal) {
        let name = name.lowercased()
        guard name.wholeMatch(of: /[a-z0-9][a-z0-9-]{0,31}/) != nil, name != Self.defaultName else {
            throw .because(
                "the store '\(name.prefix(40))' must be 1 to 32 letters, digits and '-', and not 'default'.")
        }
        let halves = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var (region, isPath, profile) = (SettingsTable.all.objectStorage.region.defaultValue, true, String?.none)
        for option in halves.dropFirst().flatMap({ $0.split(separator: "&") }) {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.last) {
            case ("region", let value?) where value.wholeMatch(of: /[a-z0-9-]{1,64}/) != nil: region = value
            case ("path-style", "true"): isPath = true
            case ("path-style", "false"): isPath = false
            case ("profile", let value?) where parts.count == 2: profile = value
            default:
                throw .because(
                    "the store '\(name)' has an option that is not region=NAME, path-style=true, path-style=false or "
                        + "profile=NAME.")
            }
        }
        do throws(ObjectStorageError) {
            let endpoint = try ObjectStoreEndpoint(
                parsing: String(halves.first ?? ""), addressing: isPath ? .path : .virtualHost)
            self.init(name: name, settings: ObjectStoreSettings(endpoint: endpoint, region: region), profile: profile)
        } catch {
            throw .because("the store '\(name)': \(error)")
        }
    }
}

extension SettingValue {
    /// The rows of a map of texts; nil for any other node.
    func namedTexts(_ grammar: String) throws(SettingRefusal) -> [(name: String, text: String)]? {
        guard case .map(let map) = self else { return nil }
        return try map.map { name, value throws(SettingRefusal) in
            guard let text = value.text else { throw .expected(grammar, got: value.shape) }
            return (name, text)
        }
    }

    /// Rows of a name and a text: `NAME=TEXT,…`, or a map, or a list of either.
    ///
    /// - Parameter named: the row of a text without a name; nil if a name is required.
    fileprivate func rows(
        _ grammar: String, named: (String) -> (name: String, text: String)? = { _ in nil }
    ) throws(SettingRefusal) -> [(name: String, text: String)] {
        var rows: [(name: String, text: String)] = []
        for member in members {
            if let named = try member.namedTexts(grammar) {
                rows += named
                continue
            }
            let parts = member.text?.split(separator: "=", maxSplits: 1).map(String.init) ?? []
            guard let row = parts.count == 2 ? (parts[0], parts[1]) : member.text.flatMap(named) else {
                throw .expected(grammar, got: nil)
            }
            rows.append(row)
        }
        // Errors contain only names of rows: text in place of a name may be a URL with a password.
        guard rows.allSatisfy({ $0.name.wholeMatch(of: /[A-Za-z0-9._+-]+/) != nil }) else {
            throw .expected(grammar, got: nil)
        }
        return rows
    }
}
