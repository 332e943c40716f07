import DarkroomDialects
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomWeb
import Foundation

/// The settings of a running server: read, checked and typed.
///
/// `settings.cache.diskBytes` is the value of the row `diskBytes` of ``CacheSettings``.
@dynamicMemberLookup
struct Settings: Sendable {
    /// The values that a source gives, by setting name.
    private(set) var values: [String: any Sendable]
    /// Presets, signing keys and CORS origins, checked against the other settings.
    private(set) var accessRules = Access()
    /// The paths of another service that the server understands, checked against the other settings; nil = none.
    private(set) var pathDialect: (any PathDialect)?
    private(set) var adminToken: String?
    /// The variables that are ignored because Kubernetes sets them.
    let serviceLinks: [String]
    /// The sockets that systemd opened, which take the place of the addresses in the settings.
    private(set) var sockets = InheritedSockets()

    /// Values that each follow their grammar, but whose combination may be impossible.
    init(unchecked sources: SettingSources) throws(SettingError) {
        try self.init(sources, isChecked: false)
    }

    /// Throws what stops startup: a malformed value, an impossible combination, or an unintended open proxy.
    init(
        _ sources: SettingSources, sockets: InheritedSockets = InheritedSockets(), isChecked: Bool = true
    ) throws(SettingError) {
        var mistakes = sources.mistakes
        // The settings whose value does not follow its grammar.
        var malformed: [String] = []
        values = [:]
        for row in SettingsTable.rows {
            guard let given = sources[row.name] else { continue }
            values[row.name] = mistakes.collect { () throws(SettingError) in try row.read(given) }
            if values[row.name] == nil { malformed.append(row.name) }
        }
        serviceLinks = sources.serviceLinks
        self.sockets = sockets
        if isChecked { check(sources, malformed: malformed, &mistakes) }
        try mistakes.report()
    }

    /// These settings with other values, as far as a running server can take them, and the names of settings whose new
    /// value needs a restart. Throws the error that would stop startup with these sources, or with the result.
    func reloaded(from sources: SettingSources) throws(SettingError) -> (settings: Settings, unchanged: [String]) {
        let new = try Settings(sources, sockets: sockets)
        var merged = self
        var unchanged: [String] = []
        for row in SettingsTable.rows {
            if row.isReloadable {
                merged.values[row.name] = new.values[row.name]
            } else if row.differs(in: values, new.values) {
                unchanged.append(row.name)
            }
        }
        var mistakes = SettingMistakes()
        merged.check(sources, &mistakes)
        try mistakes.report()
        return (merged, unchanged)
    }

    /// Reads the files that values name, and checks whether the values contradict each other.
    ///
    /// - Parameter malformed: settings that have their defaults because their values are malformed. A mistake that
    ///   names one of them may be a consequence, and is left out.
    private mutating func check(
        _ sources: SettingSources, malformed: [String] = [], _ mistakes: inout SettingMistakes
    ) {
        var found = mistakes
        adminToken = found.collect { () throws(SettingError) in try AdminTokenFile.token(self, sources) } ?? nil
        pathDialect = readPathDialect(sources, &found)
        accessRules = Access(self, sources, &found)
        let hasAccessRules = found.all.isEmpty
        checkCombinations(sources, &found)
        checkSources(sources, &found)
        checkEdges(sources, &found)
        // Without the keys that were refused, any server may look exposed.
        if hasAccessRules { checkExposure(sources, &found) }
        for mistake in found.all.dropFirst(mistakes.all.count) {
            let words = mistake.sentence.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
            if !malformed.contains(where: { words.contains(Substring($0)) }) { mistakes.add(mistake) }
        }
    }

    subscript<Theme>(dynamicMember theme: KeyPath<SettingsTable, Theme>) -> SettingGroup<Theme> {
        SettingGroup(theme: SettingsTable.all[keyPath: theme], values: values)
    }

    // MARK: Combinations

    private func checkCombinations(_ sources: SettingSources, _ mistakes: inout SettingMistakes) {
        check(\.origins.connectTimeout, atMost: \.origins.downloadTimeout, sources, &mistakes)
        check(\.origins.downloadTimeout, atMost: \.limits.requestTimeout, sources, &mistakes)
        check(\.origins.downloadsPerHost, atMost: \.origins.maxDownloads, sources, &mistakes)
        check(\.limits.maxSourcePixels, atMost: \.limits.maxAnimationPixels, sources, &mistakes)
        check(\.limits.maxOutputSide, atMost: \.limits.maxOutputPixels, sources, &mistakes)
        if case .host(_, let port) = address, port != 0, address == adminAddress {
            let spellings =
                "\(sources.spelling(of: \.listeners.port)) and \(sources.spelling(of: \.listeners.adminPort))"
            mistakes.add("\(spellings): both are \(port); each listener needs a port of its own.")
        }
        if let root = self.origins.localRoot {
            var isFolder: ObjCBool = false
            if !FileManager.default.fileExists(atPath: root, isDirectory: &isFolder) || !isFolder.boolValue {
                mistakes.add(
                    "\(sources.spelling(of: \.origins.localRoot)) must be a folder, got '\(root)'.", cause: .machine)
            }
        }
    }

    private func check<Value: Comparable>(
        _ lesser: KeyPath<SettingsTable, Setting<Value>>, atMost greater: KeyPath<SettingsTable, Setting<Value>>,
        _ sources: SettingSources, _ mistakes: inout SettingMistakes
    ) {
        let (less, more) = (SettingsTable.all[keyPath: lesser], SettingsTable.all[keyPath: greater])
        let (value, bound) = (less.value(in: values), more.value(in: values))
        guard value > bound else { return }
        mistakes.add(
            "\(sources.spelling(of: lesser)) and \(sources.spelling(of: greater)): \(less.name) is "
                + "\(less.text(of: value)) and must not exceed \(more.name), which is \(more.text(of: bound)).")
    }

    // MARK: Listeners

    var address: ListenerAddress {
        if let socket = sockets.main { return .inherited(descriptor: socket.descriptor) }
        if let path = self.listeners.unixSocket { return .unixSocket(path: path) }
        return .host(self.listeners.host, port: self.listeners.port)
    }

    /// The address of the admin listener; nil = there is none.
    var adminAddress: ListenerAddress? {
        if let socket = sockets.admin { return .inherited(descriptor: socket.descriptor) }
        return self.listeners.adminPort.map { .host(self.listeners.adminHost, port: $0) }
    }

    /// Refuses to be an open proxy or an open admin interface unless the settings ask for it explicitly.
    private func checkExposure(_ sources: SettingSources, _ mistakes: inout SettingMistakes) {
        if !requiresSignature, !self.access.openProxy,
            let (key, place) = exposure(of: address, sources.spelling(of: \.listeners.host))
        {
            let hosts = self.origins.allowHosts
            if hosts.isEmpty || hosts.contains(where: { pattern in pattern.allSatisfy { $0 == "*" } }) {
                mistakes.add(
                    "\(key): anyone who can reach \(place) could have this server fetch from any public host. Set "
                        + "signing-keys to require signed requests, set allow-hosts to limit the hosts, set "
                        + "open-proxy=true if this is intended, or bind 127.0.0.1.")
            } else if self.access.uploads {
                mistakes.add(
                    "\(key): anyone who can reach \(place) could have this server transform any image, as uploads=true "
                        + "says. Set signing-keys to require signed requests, set open-proxy=true if this is intended, "
                        + "or bind 127.0.0.1.")
            }
        }
        if adminToken == nil, let adminAddress,
            let (key, place) = exposure(of: adminAddress, sources.spelling(of: \.listeners.adminHost))
        {
            mistakes.add(
                "\(key): anyone who can reach admin-port at \(place) could purge the caches. "
                    + "Set admin-token or admin-token-file, or bind admin-host to 127.0.0.1.")
        }
    }

    /// Whether images require a signature or the admin token.
    var requiresSignature: Bool { accessRules.requiresSignature(with: pathDialect) }

    /// The setting and the address that others than this machine can reach; nil if it is this machine only.
    private func exposure(of address: ListenerAddress, _ spelling: String) -> (key: String, place: String)? {
        switch address {
        case .unixSocket: return nil
        case .inherited(let descriptor):
            let socket = [sockets.main, sockets.admin].compactMap(\.self).first { $0.descriptor == descriptor }
            return socket.flatMap { $0.isLocal ? nil : ("LISTEN_FDS", $0.address) }
        case .host(let host, _):
            let isLocal = IPAddress(host)?.isLoopback ?? (host.lowercased() == "localhost")
            return isLocal ? nil : (spelling, host)
        }
    }
}

@dynamicMemberLookup
struct SettingGroup<Theme> {
    fileprivate let theme: Theme
    fileprivate let values: [String: any Sendable]

    subscript<Value>(dynamicMember row: KeyPath<Theme, Setting<Value>>) -> Value {
        theme[keyPath: row].value(in: values)
    }
}

extension Setting {
    /// The given value, else the default, as users write it.
    func text(in values: [String: any Sendable]) -> String { text(of: value(in: values)) }

    /// The given value, else the default.
    fileprivate func value(in values: [String: any Sendable]) -> Value {
        // The key is looked up first: a missing value must not count as a given `nil` of an optional setting.
        guard let given = values[name] else { return defaultValue }
        return given as? Value ?? defaultValue
    }
}

extension SettingRow {
    /// Whether the values of two servers differ.
    func differs(in values: [String: any Sendable], _ others: [String: any Sendable]) -> Bool {
        // The text of a secret shows only whether it is set.
        text(in: values) != text(in: others)
            || isSecret && String(describing: values[name]) != String(describing: others[name])
    }
}

extension SettingSources {
    /// The key as the user wrote it, with the line that a reason is about; its name where no source gives it.
    func spelling<Value>(of row: KeyPath<SettingsTable, Setting<Value>>, for reason: String = "") -> String {
        let name = SettingsTable.all[keyPath: row].name
        return self[name]?.spelling(for: reason) ?? name
    }
}
