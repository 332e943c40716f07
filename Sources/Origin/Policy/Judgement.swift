import NIOHTTP1

/// What to do about a response, from its head alone.
enum Judgement: Equatable {
    /// Read the body. `sizeHint` is what the head announces, 0 where it does not: good for reserving memory only.
    case content(sizeHint: Int)
    case redirect(location: String?)
    case refused(OriginError)

    /// The largest head that is kept, names and values together, in bytes.
    static let maxHeadBytes = 64 << 10

    init(_ head: HTTPResponseHead, maxSourceBytes: Int) {
        guard head.headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.maxHeadBytes else {
            self = .refused(.unreachable(.malformed))
            return
        }
        switch head.status.code {
        case 204, 205, 206: self = .refused(.refusedStatus(Int(head.status.code)))
        case 200..<300: self.init(success: head.headers, maxSourceBytes: maxSourceBytes)
        case 301, 302, 303, 307, 308: self = .redirect(location: head.headers.first(name: "location"))
        case 404, 410: self = .refused(.notFound(status: Int(head.status.code)))
        case 508: self = .refused(.loop)
        default: self = .refused(.refusedStatus(Int(head.status.code)))
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
