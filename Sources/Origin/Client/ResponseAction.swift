import DarkroomNetwork
import NIOHTTP1

/// The action for a response, decided by its head alone.
enum ResponseAction: Equatable {
    /// Read the body and decode its codings. `sizeHint` is the announced length or 0, fit for reserving memory only.
    case content(sizeHint: Int, codings: [ContentCoding])
    /// Use the known original (304).
    case notModified
    case redirect(location: String?)
    /// Report that the resource does not exist (404, 410).
    case missing
    /// Report a status that no original has.
    case unexpectedStatus
    case fail(OriginError)

    /// The largest head in bytes, field names and values together.
    static let maxHeadBytes = 64 << 10

    /// - Parameter isConditional: whether the request had validators. A 304 is unexpected without them.
    init(_ head: HTTPResponseHead, maxSourceBytes: Int, isConditional: Bool) {
        guard head.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.maxHeadBytes else {
            self = .fail(.unreachable(.malformed))
            return
        }
        switch head.status.code {
        // Some servers answer so without being asked for a range.
        case 206 where !head.headers.lacksBytes: self.init(success: head.headers, maxSourceBytes: maxSourceBytes)
        // No content (204, 205), and partial content (206).
        case 204...206: self = .unexpectedStatus
        // An unknown success is treated as 200 (RFC 9110 §15).
        case 200...299: self.init(success: head.headers, maxSourceBytes: maxSourceBytes)
        case 304 where isConditional: self = .notModified
        case 301, 302, 303, 307, 308:
            let locations = head.headers["location"]
            let isOne = locations.allSatisfy { $0 == locations.first }
            self = isOne ? .redirect(location: locations.first) : .fail(.badRedirect(.invalidLocation))
        case 404, 410: self = .missing
        case 508: self = .fail(.loop)
        default: self = .unexpectedStatus
        }
    }

    private init(success headers: HTTPHeaders, maxSourceBytes: Int) {
        let codings = ContentCoding.list(headers["content-encoding"])
        let length = headers.first(name: "content-length").flatMap(Int.init(digits:)) ?? 0
        self =
            if length > maxSourceBytes {
                .fail(.tooLarge(limitBytes: maxSourceBytes))
            } else if let codings {
                .content(sizeHint: codings.isEmpty ? length : 0, codings: codings)
            } else {
                .fail(.unacceptableEncoding)
            }
    }
}

extension HTTPHeaders {
    /// Whether the `Content-Range` of a 206, such as `bytes 0-9/20`, excludes bytes of the image. As in browsers, a
    /// malformed field is ignored.
    fileprivate var lacksBytes: Bool {
        self["content-range"].contains { range in
            guard let range = range.wholeMatch(of: /bytes ([0-9]+)-([0-9]+)\/(?:([0-9]+)|\*)/) else { return false }
            let size = range.3.map { Int($0) } ?? nil
            return Int(range.1) != 0 || size.map { Int(range.2) != $0 - 1 } ?? (range.3 != nil)
        }
    }
}
