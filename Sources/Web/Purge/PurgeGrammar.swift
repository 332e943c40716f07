import DarkroomPipeline

/// The language of `/cache` queries: as strict as that of `/image`, in the same words.
struct PurgeGrammar: Sendable {
    let table = ParameterTable(parameters)

    /// Reads a query, given as received after the `?`.
    func parse(_ query: String) throws(InvalidParameter) -> PurgeQuery {
        var draft = PurgeDraft()
        try table.read(query, into: &draft)
        return try PurgeQuery(draft)
    }

    private static let parameters: [Parameter<PurgeDraft>] = [
        Parameter("url", .url) { $0.url = $1 },
        Parameter("prefix", .urlPrefix) { $0.prefix = $1 },
        Parameter("host", .host) { $0.host = $1 },
        Parameter("tag", .tag) { $0.tag = $1 },
        Parameter("all", .boolean, standard: "false") { $0.all = $1 },
        Parameter("expired", .boolean, standard: "false") { $0.expired = $1 },
        Parameter("tier", .choice(["memory": TierSet.memory, "disk": .disk])) { $0.tier = $1 },
        Parameter("soft", .boolean, standard: "false") { $0.soft = $1 },
        Parameter("dry_run", .boolean, standard: "false") { $0.dryRun = $1 },
    ]
}

extension Form where Value == String {
    /// The beginning of a canonical address, its scheme at least: a slip shall not empty the whole cache.
    fileprivate static var urlPrefix: Form {
        Form(
            .text(
                pattern: "^(https?://[^A-Z/?#@\\\\]+(/[^#]*)?|local:///[^#]*)$",
                allowed: "the beginning of an address with http://, https:// or local:///, its host in lower case")
        ) { text in
            if text.hasPrefix("local:///") { return text.contains("#") ? nil : text }
            guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return nil }
            let parts = text.dropFirst(scheme.count).split(
                separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let host = parts.first, !host.isEmpty, !host.utf8.contains(where: isNoHostByte), !text.contains("#")
            else { return nil }
            return text
        }
    }

    private static func isNoHostByte(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || "?#@\\".utf8.contains(byte)
    }

    /// A host without its port, in lower case; an IPv6 address without brackets.
    fileprivate static var host: Form {
        Form(
            .text(
                pattern: "^([A-Za-z0-9._-]{1,253}|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$",
                allowed: "a host name or an IP address, without port and brackets")
        ) { text in
            let host = text.lowercased()
            let isName = (1...253).contains(host.utf8.count) && host.utf8.allSatisfy(isHostNameByte)
            return isName || isAddress(host) ? host : nil
        }
    }

    private static func isAddress(_ host: String) -> Bool {
        host.utf8.count { $0 == UInt8(ascii: ":") } >= 2
            && host.utf8.allSatisfy { Digits.isDigit($0) || (0x61...0x66).contains($0) || ":.".utf8.contains($0) }
    }

    private static func isHostNameByte(_ byte: UInt8) -> Bool {
        Digits.isDigit(byte) || (0x61...0x7a).contains(byte) || "-._".utf8.contains(byte)
    }

    /// What a `Surrogate-Key` or `Cache-Tag` can hold.
    fileprivate static var tag: Form {
        Form(.text(pattern: "^[ -~]{1,256}$", allowed: "a tag of 1 to 256 printable ASCII characters")) { text in
            (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) } ? text : nil
        }
    }
}
