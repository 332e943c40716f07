import HTTPTypes

extension HTTPFields {
    /// What makes tricks with an answer inert in browsers, whatever it is; what it says for itself stays.
    mutating func protectBrowsers() {
        for field in Self.protection where self[field.name] == nil { append(field) }
    }

    /// Nobody is to guess another type; nothing in it runs or is loaded; only pages of this server embed it; no address of ours, which may
    /// hold a signature, is told to others.
    private static let protection: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        .crossOriginResourcePolicy: "same-origin", .referrerPolicy: "no-referrer",
    ]
}
