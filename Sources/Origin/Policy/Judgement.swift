import NIOHTTP1

/// What to do about a response, from its head alone.
enum Judgement: Equatable {
    /// Read the body. `sizeHint` is what the head announces, 0 where it does not: good for reserving memory only.
    case content(sizeHint: Int)
    /// What we have is still right.
    case notModified
    case redirect(location: String?)
    /// There is nothing at this URL.
    case missing
    /// The status is none that an original comes with.
    case unwanted
    case refused(OriginError)

    /// The largest head that is kept, names and values together, in bytes.
    static let maxHeadBytes = 64 << 10

    /// - Parameter isConditional: whether the request had validators, without which 304 makes no sense.
    init(_ head: HTTPResponseHead, maxSourceBytes: Int, isConditional: Bool) {
        guard head.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.maxHeadBytes else {
            self = .refused(.unreachable(.malformed))
            return
        }
        switch head.status.code {
        // 206 is a part, and what other successes stand for a cache cannot know (RFC 9110 §15.3).
        case 200, 203: self.init(success: head.headers, maxSourceBytes: maxSourceBytes)
        case 304 where isConditional: self = .notModified
        case 301, 302, 303, 307, 308: self = .redirect(location: head.headers.first(name: "location"))
        case 404, 410: self = .missing
        case 508: self = .refused(.loop)
        default: self = .unwanted
        }
    }

    private init(success headers: HTTPHeaders, maxSourceBytes: Int) {
        let codings = headers[canonicalForm: "content-encoding"].map { $0.lowercased() }
        let length = headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        self =
            if !codings.allSatisfy({ $0 == "identity" || $0.isEmpty }) {
                .refused(.unacceptableEncoding)
            } else if length > maxSourceBytes {
                .refused(.tooLarge(limitBytes: maxSourceBytes))
            } else {
                .content(sizeHint: length)
            }
    }
}
