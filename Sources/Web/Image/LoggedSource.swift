import DarkroomNetwork

/// How much of a source's URL the access log contains.
package enum LoggedSource: String, CaseIterable, Sendable {
    /// The host, because the rest may contain tokens.
    case host
    /// The URL without its query.
    case path
    /// The URL, with values in its query replaced that may be credentials.
    case full
}

extension SourceURL {
    /// The URL in the log; nil where the host is logged alone.
    func logged(as form: LoggedSource) -> String? {
        guard form != .host, scheme != .upload else { return nil }
        let url = origin + path
        guard form == .full, let query else { return url }
        return url + "?"
            + query.split(separator: "&", omittingEmptySubsequences: false).map(Self.redacted).joined(separator: "&")
    }

    /// A member of a query without a value that may be a credential: by its name, or long enough to be one.
    private static func redacted(_ member: Substring) -> String {
        let equals = member.firstIndex(of: "=")
        let name = member[..<(equals ?? member.endIndex)]
        let value = equals.map { member[$0...].dropFirst() } ?? name
        // A percent sign may hide any name.
        let isNamedSecret =
            name.contains("%") || name.lowercased() == "s"
            || secretWords.contains { name.lowercased().contains($0) }
        guard value.utf8.count >= secretBytes || equals != nil && isNamedSecret else { return String(member) }
        return equals == nil ? "…" : "\(name.utf8.count < secretBytes * 2 ? name : "…")=…"
    }

    private static let secretWords = [
        "auth", "code", "cred", "hash", "hdn", "hmac", "jwt", "key", "pass", "policy", "pwd", "secret", "session",
        "sig",
        "token", "user",
    ]

    /// The shortest value that is taken for a credential whatever its name.
    private static let secretBytes = 16
}
