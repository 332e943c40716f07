import DarkroomNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1

extension ResponseCollector.Progress {
    /// What came of an exchange that did not end in a redirect.
    ///
    /// - Parameter ending: how the transfer ended. It counts only where a body was wanted: we break off all others.
    func response(
        from url: SourceURL, sentFields: HTTPFields, ending: Result<Void, any Error>
    ) throws(ExchangeFailure) -> OriginResponse {
        if case .refused(let error) = evaluation { throw ExchangeFailure(error) }
        if case .failure(let thrown) = ending, wantsMore {
            throw ExchangeFailure(thrown, requestSent: requestedAt != nil, headReceived: head != nil)
        }
        guard let head, let requestedAt else { throw ExchangeFailure(.unreachable(.malformed)) }
        let (status, fields) = (Int(head.status.code), HTTPFields(head.headers))
        let refusal = UnusableResponse(status: status, headers: fields, requestedAt: requestedAt, receivedAt: receivedAt)
        switch evaluation {
        case .missing: throw ExchangeFailure(.notFound(refusal))
        case .unwanted: throw ExchangeFailure(.unexpectedStatus(refusal))
        case .content where body.readableBytes == 0: throw ExchangeFailure(.emptyBody)
        case .content, .notModified, .redirect, .refused, nil: break
        }
        return OriginResponse(
            url: url, status: HTTPResponse.Status(code: status), headers: fields, body: body, requestedAt: requestedAt,
            receivedAt: receivedAt, sentFields: sentFields)
    }

    /// Whether the transfer had to go on after what was received.
    private var wantsMore: Bool {
        switch evaluation {
        case .content, nil: true
        case .notModified, .redirect, .missing, .unwanted, .refused: false
        }
    }
}
