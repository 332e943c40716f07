import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests

extension AccessLogDetails {
    /// The details of a request for an image, or for a document about an image, that may not be known yet.
    init(_ source: SourceURL, as form: LoggedSource, _ image: ImageResponse? = nil, error: PipelineError? = nil) {
        let failure = error ?? image?.substitutionReason ?? image?.cache.staleBecause
        let originStatus = image?.cache.originStatus ?? failure?.proxyStatus?.receivedStatus
        self.init(
            [
                "format": (image?.format.rawValue).map(Value.text),
                "height": (image?.size.height).map(Value.number),
                "origin-error": (failure?.originError).map(Value.text),
                "origin-status": originStatus.map(Value.number),
                "source": source.logged(as: form).map(Value.text),
                "source-bytes": (image?.sourceBytes).map(Value.number),
                "source-host": .text(source.loggedHost),
                "tier": (image?.cache.detail.text).map(Value.text),
                "width": (image?.size.width).map(Value.number),
            ], isHit: image.map { ImageMetrics.Outcome($0).isHit } ?? false)
    }
}

extension SourceURL {
    /// At most the length of a DNS name; the parser accepts longer ones.
    fileprivate var loggedHost: String {
        switch scheme {
        case .http, .https: String(Substring((host?.description ?? "").utf8.prefix(253)))
        case .s3: origin
        case .local: "local:"
        case .upload: "upload:"
        case .color: "color:"
        }
    }
}

/// How much of a source's URL the access log contains.
package enum LoggedSource: String, CaseIterable, Sendable {
    /// The host, because path and query may contain tokens.
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
        "sig", "token", "user",
    ]

    /// The shortest value that is taken for a credential whatever its name.
    private static let secretBytes = 16
}
