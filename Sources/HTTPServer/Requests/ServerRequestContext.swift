import DarkroomNetwork
import NIOCore
import Synchronization

/// The context of a request that is answered later: its connection, and what its endpoint adds to the access log.
package struct ServerRequestContext: Sendable {
    /// What the endpoint adds to the access log's entry. Copies of the context share it.
    package var logDetails: AccessLogDetails {
        get { reported.details.withLock(\.self) }
        nonmutating set { reported.details.withLock { $0 = newValue } }
    }
    private let reported = Reported()
    private let head: RequestHead
    private let place: RoutePlace?
    /// The connection; nil = the request came in another way.
    private let channel: (any Channel)?

    init(_ head: RequestHead, _ place: RoutePlace?, _ channel: (any Channel)?) {
        self.head = head
        self.place = place
        self.channel = channel
    }

    /// The segment of the path that the route has under this name in braces.
    package func parameter(_ name: String) -> String? { place?.parameter(name, of: head.path) }

    /// Asks the client for the body of the request, if it waits to be asked (RFC 9110 §10.1.1). To be called before
    /// the body is read; without it, such a client sends its body late or never, and the connection closes.
    package func continueRequest() {
        channel?.triggerUserOutboundEvent(ContinueRequest(), promise: nil)
    }

    private final class Reported: Sendable {
        let details = Mutex(AccessLogDetails.none)
    }
}

extension RequestHead {
    /// The client's own id. The id appears in logs, header fields and URNs, so it must be 1 to 128 ASCII letters,
    /// digits, dots, hyphens and underscores; any other id is ignored. Adopted, a request has the same id in all
    /// systems.
    var validRequestID: String? {
        requestID.flatMap { (1...128).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isPlainNameCharacter) ? $0 : nil }
    }

    /// A practically unique id: a random number of this process, and the number of the request, in 32 hexadecimal
    /// digits.
    static func newRequestID() -> String {
        let number = nextRequest.wrappingAdd(1, ordering: .relaxed).oldValue
        return String(unsafeUninitializedCapacity: 32) { digits in
            for place in 0..<16 {
                digits[15 - place] = hexDigits[Int(process >> UInt64(4 * place) & 15)]
                digits[31 - place] = hexDigits[Int(number >> UInt64(4 * place) & 15)]
            }
            return 32
        }
    }

    private static let process = UInt64.random(in: .min ... .max)
    private static let nextRequest = Atomic(UInt64.random(in: .min ... .max))
    private static let hexDigits = Array("0123456789abcdef".utf8)
}
