import Foundation

/// The basic URL parser of the WHATWG URL Standard, reduced to absolute `http`, `https`, `s3`, `local` and `color`
/// URLs.
enum SourceURLParser {
    static func parse(_ text: String) throws(SourceURLError) -> SourceURL {
        guard text.utf8.count <= SourceURL.maximumBytes else { throw .tooLong(limitBytes: SourceURL.maximumBytes) }
        let bytes = cleaned(text)
        guard let (name, rest) = splitScheme(bytes[...]) else { throw .missingScheme }
        let body = rest.prefix { $0 != UInt8(ascii: "#") }
        switch SourceURL.Scheme(rawValue: name) {
        case .local: return try parseLocal(body)
        case .color: return try parseColor(rest)
        // A fragment that is dropped would make another key.
        case .s3: return try parseObject(rest)
        case .upload, nil: throw isHost(name, before: rest) ? .missingScheme : .unsupportedScheme(name)
        case .some(let scheme): return try parseWeb(scheme, body)
        }
    }

    /// Removes control characters and spaces at both ends, and tabs and line breaks everywhere.
    static func cleaned(_ text: String) -> [UInt8] {
        let isTrimmed = { (byte: UInt8) in byte <= 0x20 }
        let start = text.utf8.drop(while: isTrimmed)
        let count = start.reversed().drop(while: isTrimmed).count
        var bytes = Array(start.prefix(count))
        bytes.removeAll { $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
        return bytes
    }

    /// Splits off the scheme and returns it in lower case.
    static func splitScheme(_ bytes: ArraySlice<UInt8>) -> (name: String, rest: ArraySlice<UInt8>)? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first, first.isASCIILetter,
            bytes[..<colon].allSatisfy({ $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) })
        else { return nil }
        return (String(decoding: bytes[..<colon], as: UTF8.self).lowercased(), bytes[(colon + 1)...])
    }

    /// Whether what looks like a scheme is a host with a port, as in `example.com:8080/a.jpg`.
    private static func isHost(_ name: String, before rest: ArraySlice<UInt8>) -> Bool {
        let port = rest.prefix { $0.isASCIIDigit }
        return (name == "localhost" || name.contains(".")) && (1...5).contains(port.count)
            && rest.dropFirst(port.count).first.map("/?#".utf8.contains) != false
    }

    private static func parseLocal(_ body: ArraySlice<UInt8>) throws(SourceURLError) -> SourceURL {
        let (path, query) = splitQuery(body)
        guard path.starts(with: "///".utf8), !path.starts(with: "////".utf8) else { throw .invalidLocalForm }
        return SourceURL(
            scheme: .local, path: PercentEncoding.complete(path.dropFirst(2), allowing: .path),
            query: query.map { PercentEncoding.complete($0, allowing: .query) })
    }

    /// `///` and a ``ColorGradient``. Equal drawings have one spelling.
    private static func parseColor(_ rest: ArraySlice<UInt8>) throws(SourceURLError) -> SourceURL {
        guard rest.starts(with: "///".utf8), let gradient = ColorGradient(parsing: rest.dropFirst(3)) else {
            throw .invalidColorForm
        }
        return SourceURL(scheme: .color, path: "/\(gradient)")
    }

    /// `//name/key`. The key is decoded once and written again, so that each object has one spelling.
    ///
    /// Dot segments are ordinary parts of keys to a store. They are refused nevertheless, because proxies in front of
    /// stores resolve them, which would lead out of an allowed prefix.
    private static func parseObject(_ rest: ArraySlice<UInt8>) throws(SourceURLError) -> SourceURL {
        let name = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
        guard rest.starts(with: "//".utf8), let name = bucketAlias(name), !rest.contains(where: "?#".utf8.contains)
        else { throw .invalidS3Form }
        let bytes = PercentEncoding.decodeLeniently(rest.dropFirst(2 + name.utf8.count + 1))
        guard (1...SourceURL.maximumKeyBytes).contains(bytes.count), !bytes.contains(0),
            let key = String(validating: bytes, as: UTF8.self),
            !bytes.split(separator: UInt8(ascii: "/")).contains(where: { $0 == [0x2e] || $0 == [0x2e, 0x2e] })
        else { throw .invalidObjectKey }
        return SourceURL(
            scheme: .s3, host: .name(name), path: "/" + PercentEncoding.encode(key, allowing: .objectKey))
    }

    /// The name of a bucket in lower case: 1 to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both
    /// ends.
    static func bucketAlias(_ name: ArraySlice<UInt8>) -> String? {
        guard (1...63).contains(name.count), name.allSatisfy({ $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }),
            name.first?.isASCIIAlphanumeric == true, name.last?.isASCIIAlphanumeric == true
        else { return nil }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private static func parseWeb(_ scheme: SourceURL.Scheme, _ body: ArraySlice<UInt8>)
        throws(SourceURLError) -> SourceURL
    {
        let afterSlashes = body.drop { isSlash($0) }
        let (beforeQuery, query) = splitQuery(afterSlashes)
        let authority = beforeQuery.prefix { !isSlash($0) }
        let (host, port) = try parseAuthority(authority)
        return SourceURL(
            scheme: scheme, host: host, port: port,
            path: normalizedPath(beforeQuery.dropFirst(authority.count)),
            query: query.map { PercentEncoding.encode($0, allowing: .webQuery) })
    }

    static func splitQuery(_ bytes: ArraySlice<UInt8>) -> (path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?) {
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return (bytes, nil) }
        return (bytes[..<mark], bytes[(mark + 1)...])
    }

    static func isSlash(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
    }

    /// The host and port of `user:password@host:port`. The credentials end at the last `@`, as in browsers.
    private static func parseAuthority(_ authority: ArraySlice<UInt8>)
        throws(SourceURLError) -> (SourceURL.Host, Int?)
    {
        let hostStart = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        let hostAndPort = authority[hostStart...]
        let colon = portColon(in: hostAndPort)
        let hostText = hostAndPort[..<(colon ?? hostAndPort.endIndex)]
        guard !hostText.isEmpty else { throw .emptyHost }
        let host = try SourceHostParser.parse(hostText)
        guard let colon else { return (host, nil) }
        return (host, try parsePort(hostAndPort[(colon + 1)...]))
    }

    private static func portColon(in hostAndPort: ArraySlice<UInt8>) -> Int? {
        var insideBrackets = false
        for index in hostAndPort.indices {
            switch hostAndPort[index] {
            case UInt8(ascii: "["): insideBrackets = true
            case UInt8(ascii: "]"): insideBrackets = false
            case UInt8(ascii: ":") where !insideBrackets: return index
            default: break
            }
        }
        return nil
    }

    private static func parsePort(_ digits: ArraySlice<UInt8>) throws(SourceURLError) -> Int? {
        guard !digits.isEmpty else { return nil }
        guard let port = IPAddress.integer(digits, radix: 10), port <= 65535 else { throw .invalidPort }
        return Int(port)
    }

    /// The path with dot segments resolved, encoded ones included, and backslashes as slashes.
    static func normalizedPath(_ path: ArraySlice<UInt8>) -> String {
        if isNormalized(path) { return String(decoding: path, as: UTF8.self) }
        let segments = path.dropFirst().split(omittingEmptySubsequences: false, whereSeparator: isSlash)
        var kept: [String] = []
        for (index, segment) in segments.enumerated() {
            let text = PercentEncoding.encode(segment, allowing: .webPathSegment)
            let isLast = index == segments.count - 1
            // The longest spelling of a dot segment is `%2e%2e`.
            let mayBeDots = segment.count <= 6 && segment.first.map(".%".utf8.contains) == true
            switch mayBeDots ? text.lowercased().replacing("%2e", with: ".") : text {
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            case ".":
                if isLast { kept.append("") }
            default:
                kept.append(text)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// Whether a path certainly stays the same. True for most.
    private static func isNormalized(_ path: ArraySlice<UInt8>) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        var last: UInt8?
        return path.allSatisfy { byte in
            defer { last = byte }
            switch byte {
            case UInt8(ascii: "/"): return true
            case UInt8(ascii: "\\"), UInt8(ascii: "%"): return false
            case UInt8(ascii: ".") where last == UInt8(ascii: "/"): return false
            default: return PercentEncoding.AllowedBytes.webPathSegment.contains(byte)
            }
        }
    }
}

extension SourceURL {
    /// Resolves a `Location` field against this URL (RFC 9110 §10.2.2, RFC 3986 §5, with the leniency of the WHATWG URL
    /// Standard). The fragment is removed.
    ///
    /// - Throws: ``SourceURLError`` as ``init(parsing:)`` does.
    public func resolving(redirect location: String) throws(SourceURLError) -> SourceURL {
        guard location.utf8.count <= Self.maximumBytes else { throw .tooLong(limitBytes: Self.maximumBytes) }
        let cleaned = SourceURLParser.cleaned(location)[...]
        var reference = cleaned.prefix { $0 != UInt8(ascii: "#") }
        if let (name, rest) = SourceURLParser.splitScheme(reference) {
            // Browsers resolve `http:image.jpg` on an http page as relative.
            guard name == scheme.rawValue, leadingSlashes(rest) < 2 else {
                return try SourceURL(parsing: String(decoding: reference, as: UTF8.self))
            }
            reference = rest
        }
        return try SourceURL(parsing: absolute(reference))
    }

    private func absolute(_ reference: ArraySlice<UInt8>) -> String {
        let text = String(decoding: reference, as: UTF8.self)
        switch (leadingSlashes(reference), reference.first) {
        case (2..., _): return "\(scheme.rawValue):\(text)"
        case (1, _): return origin + text
        case (_, nil): return canonical
        case (_, UInt8(ascii: "?")): return origin + path + text
        default:
            let folder = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
            return origin + folder + text
        }
    }

    private func leadingSlashes(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.prefix(2).prefix { SourceURLParser.isSlash($0) }.count
    }
}

/// The host parser of the WHATWG URL Standard for special schemes.
enum SourceHostParser {
    /// - Parameter text: the text between credentials and port, not empty.
    static func parse(_ text: ArraySlice<UInt8>) throws(SourceURLError) -> SourceURL.Host {
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]"), let value = IPAddress.parseV6(text.dropFirst().dropLast()) else {
                throw .invalidHost
            }
            return .address(.v6(value))
        }
        let name = try asciiName(PercentEncoding.decodeLeniently(text))
        var labels = Array(name.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        // A numeric last label means that the host must be an IPv4 address.
        guard let last = labels.last, !last.isEmpty, last.allSatisfy(\.isASCIIDigit) || ipv4Part(last) != nil else {
            return .name(name)
        }
        guard let value = ipv4(labels) else { throw .invalidHost }
        return .address(.v4(value))
    }

    /// The decoded host as lower-case ASCII. Fails if it has a character that host names cannot have.
    static func asciiName(_ decoded: [UInt8]) throws(SourceURLError) -> String {
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .invalidHost }
        var name = text.lowercased()
        if !decoded.allSatisfy({ $0 < 0x80 }) {
            guard let mapped = internationalName(text) else { throw .invalidHost }
            name = mapped.lowercased()
        }
        guard !name.isEmpty, name.utf8.allSatisfy(\.isPlainNameCharacter) else { throw .invalidHost }
        return name
    }

    /// UTS #46 processing by Foundation. Delimiters must not reach its URL parser, where they would end the host.
    private static func internationalName(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 >= 0x80 || $0.isPlainNameCharacter }) else { return nil }
        return URLComponents(string: "http://\(text)/")?.encodedHost
    }

    /// The IPv4 parser of the WHATWG URL Standard: one to four parts, each decimal, octal (`0…`) or hexadecimal
    /// (`0x…`). The last part fills all remaining bytes.
    private static func ipv4(_ labels: [ArraySlice<UInt8>]) -> UInt32? {
        let parts = labels.compactMap(ipv4Part)
        guard (1...4).contains(labels.count), parts.count == labels.count, let last = parts.last,
            parts.dropLast().allSatisfy({ $0 <= 255 }), last < 1 << UInt64(8 * (5 - parts.count))
        else { return nil }
        let head = parts.dropLast().enumerated().reduce(0) { $0 | $1.element << UInt64(24 - 8 * $1.offset) }
        return UInt32(head | last)
    }

    /// The value of one part, or nil if it is not a number. Inexact above 2^32.
    private static func ipv4Part(_ text: ArraySlice<UInt8>) -> UInt64? {
        guard let first = text.first else { return nil }
        guard first == UInt8(ascii: "0"), text.count > 1 else { return IPAddress.integer(text, radix: 10) }
        let second = text[text.startIndex + 1] | 0x20
        return second == UInt8(ascii: "x")
            ? IPAddress.integer(text.dropFirst(2), radix: 16)
            : IPAddress.integer(text.dropFirst(), radix: 8)
    }
}
