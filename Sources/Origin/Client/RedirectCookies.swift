import DarkroomNetwork

/// The cookies that the redirects of one download set, for its later requests to the same origins. Some hosts redirect
/// forever without them. They are forgotten with the download.
struct RedirectCookies {
    private var cookies: [String: [(name: Substring, value: Substring)]] = [:]
    private var count = 0

    private static let maxCookies = 20
    private static let maxBytes = 4_096

    /// Keeps up to 20 cookies of `Set-Cookie` fields (RFC 6265 §5.2), without long ones.
    ///
    /// - Parameter origin: ``SourceURL/origin`` of the response.
    mutating func store(_ lines: [String], from origin: String) {
        for line in lines where line.utf8.count <= Self.maxBytes {
            let parts = line.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmingBlanks)
            guard let pair = parts.first, let equals = pair.firstIndex(of: "="),
                case let name = pair[..<equals].trimmingBlanks, !name.isEmpty
            else { continue }
            let known = cookies[origin, default: []].filter { $0.name != name }
            count -= cookies[origin, default: []].count - known.count
            cookies[origin] = known
            let isRemoved = parts.dropFirst().contains { $0.lowercased() == "max-age=0" }
            guard !isRemoved, count < Self.maxCookies else { continue }
            cookies[origin, default: []].append((name, pair[equals...].dropFirst().trimmingBlanks))
            count += 1
        }
    }

    /// The value of `Cookie` for a request to an origin; nil without cookies.
    func value(for origin: String) -> String? {
        guard let cookies = cookies[origin], !cookies.isEmpty else { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
