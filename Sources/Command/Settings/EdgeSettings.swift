import DarkroomEdgePurging
import DarkroomNetwork
import DarkroomWeb
import Foundation

struct EdgeSettings: SettingTheme {
    let title = "Caches in front"

    let responseTags = Setting(
        "response-tags", .choice(of: ResponseTags.self), default: .none, isReloadable: true,
        help: """
            Field with the tags by which a CDN purges responses: Cache-Tag of cloudflare, Surrogate-Key of fastly, \
            Edge-Cache-Tag of akamai, CDN-Tag of bunny, or xkey of Varnish.
            """)
    let purgeTo = Setting(
        "purge-to", .edges, default: [], isSecret: true,
        help: """
            CDNs, caches and webhooks that receive each purge, as VENDOR=TARGET;OPTION=VALUE. \
            cloudflare=ZONE, fastly=SERVICE and bunny=PULLZONE need the option token-file; webhook=URL needs \
            secret-file, whose secret signs requests; varnish=URL and nginx=URL get PURGE requests, varnish with \
            method=BAN gets BAN. The option api replaces the URL of a vendor's API.
            """)
}

extension SettingKind where Value == [EdgeDestination] {
    /// `VENDOR=TARGET;OPTION=VALUE,…`; in YAML also a list of maps.
    static var edges: SettingKind {
        let grammar =
            "VENDOR=TARGET;OPTION=VALUE, such as fastly=SERVICE;token-file=/run/secrets/fastly, with a vendor of "
            + EdgeDestination.Vendor.allCases.map(\.rawValue).joined(separator: ", ")
        return SettingKind("VENDOR=TARGET,...", grammar, format: masked) { value throws(SettingRefusal) in
            var edges: [EdgeDestination] = []
            for member in value.members {
                edges.append(try EdgeDestination(rows: member.edgeRows(grammar), among: edges, grammar))
            }
            return edges
        }
    }
}

extension SettingValue {
    /// The vendor with its target, and the options.
    fileprivate func edgeRows(_ grammar: String) throws(SettingRefusal) -> [(name: String, text: String)] {
        if let rows = try namedTexts(grammar) { return rows }
        return try (text?.split(separator: ";") ?? []).map { part throws(SettingRefusal) in
            let halves = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2 else { throw .expected(grammar, got: nil) }
            return (halves[0].trimmingCharacters(in: .whitespaces), halves[1])
        }
    }
}

extension EdgeDestination {
    /// Sentences do not repeat a URL, which may be secret. The others are the destinations before this one.
    fileprivate init(
        rows: [(name: String, text: String)], among others: [EdgeDestination], _ grammar: String
    ) throws(SettingRefusal) {
        let vendors = rows.compactMap { row in Vendor(rawValue: row.name).map { ($0, row.text) } }
        guard vendors.count == 1, let (vendor, target) = vendors.first else { throw .expected(grammar, got: nil) }
        var (secretFile, interface, bans) = (String?.none, String?.none, false)
        let secretOption = vendor == .webhook ? "secret-file" : "token-file"
        for (name, text) in rows where name != vendor.rawValue {
            switch name {
            case secretOption where !text.isEmpty: secretFile = text
            case "api" where !vendor.interface.isEmpty: interface = try Self.url(text, of: vendor, option: "api")
            case "method" where vendor == .varnish && ["PURGE", "BAN"].contains(text): bans = text == "BAN"
            default: throw .because("'\(vendor)' does not take option '\(name.prefix(40))', or not with this value.")
            }
        }
        guard secretFile != nil || !vendor.needsSecret else {
            throw .because("'\(vendor)' needs \(secretOption)=PATH, a file that only the server can read.")
        }
        var (account, url) = ("", interface)
        if vendor.interface.isEmpty {
            url = try Self.url(target, of: vendor, option: nil)
        } else {
            guard target.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
                throw .because("'\(vendor)' must be the id of a zone or service: letters, digits, '-' and '_'.")
            }
            account = target
        }
        let plain = EdgeDestination(vendor, account: account, url: url, secretFile: secretFile, bans: bans)
        let namesakes = others.count { $0.name == plain.name || $0.name.hasPrefix("\(plain.name)#") }
        self.init(
            vendor, account: account, url: url, secretFile: secretFile, bans: bans, number: namesakes + 1)
    }

    /// An http or https URL without a user and a fragment. Only the URL of an edge may have a query.
    private static func url(_ text: String, of vendor: Vendor, option: String?) throws(SettingRefusal) -> String {
        let place = option.map { "the option '\($0)' of '\(vendor)'" } ?? "'\(vendor)'"
        guard let url = try? SourceURL(parsing: text), url.scheme.isWeb, !text.contains("@"), !text.contains("#"),
            option == nil || url.query == nil
        else { throw .because("\(place) must be an http or https URL without user and fragment.") }
        return option == nil ? url.canonical : String(url.canonical.reversed().drop { $0 == "/" }.reversed())
    }
}

extension Settings {
    /// Reads the files with tokens, and compares the two settings. Messages never repeat a token.
    func checkEdges(_ sources: SettingSources, _ mistakes: inout SettingMistakes) {
        let spelling = sources.spelling(of: \.edges.purgeTo)
        for edge in self.edges.purgeTo {
            if let path = edge.secretFile {
                mistakes.collect { () throws(SettingError) in
                    let place = "\(spelling): '\(edge.vendor)'"
                    let secret = try FileBytes.text(inFile: path, upTo: 8 << 10, place)
                    if let flaw = edge.flaw(ofSecret: secret) { throw SettingError("\(place): \(path): \(flaw)") }
                }
            }
            if edge.vendor.tagField != nil, self.edges.responseTags == .none {
                mistakes.add(
                    "\(spelling): \(edge.vendor) removes responses by their tags; set response-tags to the field that "
                        + "it reads.")
            }
        }
    }
}
