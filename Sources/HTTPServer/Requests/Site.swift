import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomTracing
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import ServiceContextModule
import Synchronization
import Tracing

/// What answers the requests of a listener: its routes and observers. A reload replaces it; a request stays with one.
///
/// Every answer is finished here, whichever way it comes: an answer at once as bytes, in front of the framework, the
/// refusal of bytes that are no request in parts, and any other as a response.
final class Site: Sendable {
    let configuration: ListenerConfiguration
    let table: RouteTable
    /// Of requests without a route.
    private let unroutedMetrics: RouteMetrics
    /// The value of `Date`, formatted once a second.
    private let date = Mutex((second: Int64.min, text: ""))

    /// The maximum length in bytes of a target. A source URL of maximum length fits, fully encoded.
    static let maxTargetBytes = 32 * 1024

    init(_ configuration: ListenerConfiguration) {
        self.configuration = configuration
        let metrics = configuration.observers.metrics
        table = RouteTable(configuration.routes, metrics)
        unroutedMetrics = metrics.of(route: nil)
    }

    fileprivate var observers: RequestObservers { configuration.observers }

    fileprivate func metrics(of place: RoutePlace?) -> RouteMetrics { place?.metrics ?? unroutedMetrics }

    fileprivate var dateText: String {
        let second = Int64(Date().timeIntervalSince1970)
        return date.withLock { latest in
            if latest.second != second {
                latest = (second, HTTPDate(Date(timeIntervalSince1970: Double(second))).description)
            }
            return latest.text
        }
    }
}

extension Site {
    /// The response to bytes of a client that never became a request. The connection closes after it.
    func refuse(_ problem: Problem, of client: IPAddress?) -> [HTTPServerResponsePart] {
        let (id, kind) = (RequestHead.newRequestID(), problem.kind)
        observers.metrics.record(problem: kind.slug)
        observers.logger.info(
            "request refused",
            metadata: [
                "status": .stringConvertible(kind.status.code), "problem": "\(kind.slug)", "request-id": "\(id)",
                "client": "\(client?.description ?? "unknown")",
            ])
        let json = problem.json(requestID: id, base: configuration.problemBase)
        var fields = problem.headerFields
        // It may have been a request by a page of another site.
        fields.finish(kind.status, ReplySharing(.none, isEmbeddable: table.isEmbeddable(nil)))
        (fields[.requestID], fields[.date], fields[.connection]) = (id, dateText, "close")
        fields[.contentLength] = "\(json.readableBytes)"
        let head = HTTPResponseHead(HTTPResponse(status: kind.status, headerFields: fields))
        return [.head(head), .body(.byteBuffer(json)), .end(nil)]
    }
}

/// A request on its way through a site, from its head to its answer.
struct Exchange: Sendable {
    let site: Site
    let head: RequestHead
    /// The client's own id if it is valid, otherwise a practically unique id.
    let id: String
    private let place: RoutePlace?
    private var startedAt = NIODeadline.now()
    /// What the site said; nil = it was not asked yet.
    private var answer: Result<Answer, Problem>?

    init(_ site: Site, _ head: RequestHead, id: @autoclosure () -> String = RequestHead.newRequestID()) {
        self.site = site
        self.head = head
        self.id = head.validRequestID ?? id()
        place = site.table.place(of: head.path)
    }

    /// Asks the route, once.
    private func ask() -> Result<Answer, Problem> {
        Result { () throws(Problem) in
            guard let route = try place?.route(for: head) else { throw site.configuration.missingRoute(head.path) }
            guard head.target.utf8.count <= Site.maxTargetBytes else {
                throw .targetTooLong(maxBytes: Site.maxTargetBytes)
            }
            return try route.answer(head)
        }
    }

    private var sharing: ReplySharing {
        ReplySharing(
            place?.origins(for: head) ?? .none, isEmbeddable: site.table.isEmbeddable(place), origin: head.origin)
    }

    private var duration: Duration { .nanoseconds((NIODeadline.now() - startedAt).nanoseconds) }
}

// MARK: Now

extension Exchange {
    /// The answer, if it need not be waited for. It is sent once its request has been read to the end.
    mutating func replyNow() -> Reply? {
        let answer = ask()
        switch answer {
        case .success(.now(let reply)): return reply
        case .failure(let problem):
            var (fields, body) = content(of: problem)
            fields[.contentLength] = "\(body.readableBytes)"
            return Reply(
                problem, head: .head(problem.kind.status, fields, sharing), body: body,
                cacheStatus: fields[.cacheStatus])
        case .success(.later):
            self.answer = answer
            return nil
        }
    }

    /// Records the answer, and returns its complete head.
    func finish(_ reply: Reply, _ allocator: ByteBufferAllocator) -> ByteBuffer {
        let duration = duration
        var bytes = allocator.buffer(capacity: reply.head.readableBytes + 256)
        bytes.writeImmutableBuffer(reply.head)
        if reply.problem == nil {
            bytes.writeStaticString("Server-Timing: total;dur=")
            bytes.writeString(duration.milliseconds)
            bytes.writeStaticString("\r\n")
        }
        bytes.writeStaticString("Date: ")
        bytes.writeString(site.dateText)
        bytes.writeStaticString("\r\nX-Request-Id: ")
        bytes.writeString(id)
        bytes.writeStaticString("\r\n\r\n")
        let (observers, fields) = (site.observers, head.traceFields)
        // Most requests learn without a context that they are not recorded.
        var service = fields.map { ServiceContext($0, requestID: id, instrument: observers.instrument) } ?? .topLevel
        let span = observers.tracing?.begin(&service, isTrusted: head.isFromTrustedProxy, after: duration)
        var entry = entry(status: reply.status, reply.problem, reply.details)
        entry.bytes = head.method == .head ? 0 : reply.body.readableBytes
        entry.cacheStatus = reply.cacheStatus
        record(&entry, after: duration, span, in: service)
        return bytes
    }
}

// MARK: Later

extension Exchange {
    /// The finished response to a request that the framework has read.
    func response(to request: Request, _ channel: (any Channel)?) async -> Response {
        var exchange = self
        // A request that waited for earlier ones of its connection begins now.
        if answer == nil { exchange.startedAt = .now() }
        var service = ServiceContext(
            head.traceFields ?? HTTPFields(), requestID: id, instrument: site.observers.instrument)
        let span = site.observers.tracing?.begin(&service, isTrusted: head.isFromTrustedProxy)
        return await ServiceContext.withValue(service) { [exchange] in
            await exchange.response(to: request, channel, span)
        }
    }

    private func response(to request: Request, _ channel: (any Channel)?, _ span: RequestSpan?) async -> Response {
        site.observers.state.beginRequest()
        defer { site.observers.state.endRequest() }
        let context = ServerRequestContext(head, place, channel)
        var (response, entry) = await answer(to: request, context)
        response.headers[.requestID] = id
        response.headers[.date] = site.dateText
        if head.method == .head {
            (response, entry.bytes) = (response.createHeadResponse(), 0)
        }
        record(&entry, after: duration, span, in: ServiceContext.current)
        return response
    }

    private func answer(to request: Request, _ context: ServerRequestContext) async -> (Response, AccessLogEntry) {
        var response: Response
        var entry: AccessLogEntry
        do throws(Problem) {
            switch try (answer ?? ask()).get() {
            case .now(let reply):
                entry = self.entry(status: reply.status, nil, reply.details)
                response = reply.response(after: duration)
            case .later(let respond):
                response = try await respond(request, context)
                response.headers.finish(response.status, sharing)
                entry = self.entry(status: response.status.code, nil, context.logDetails)
            }
        } catch {
            let problem = isShutDown ? .shutDown : error
            var (fields, body) = content(of: problem)
            entry = self.entry(
                status: problem.kind.status.code, problem.kind,
                problem.logged == .none ? context.logDetails : problem.logged)
            fields.finish(problem.kind.status, sharing)
            response = Response(status: problem.kind.status, headers: fields, body: ResponseBody(byteBuffer: body))
        }
        entry.bytes = response.body.contentLength
        entry.cacheStatus = response.headers[.cacheStatus]
        entry.isDisconnected = Task.isCancelled && !isShutDown
        return (response, entry)
    }

    /// Whether the end of the grace period canceled the request, rather than its client.
    private var isShutDown: Bool { Task.isCancelled && site.observers.state.isGraceOver }
}

// MARK: Both

extension Exchange {
    private func content(of problem: Problem) -> (fields: HTTPFields, body: ByteBuffer) {
        var content = problem.content(
            requestID: id, base: site.configuration.problemBase, asPage: head.prefersPage,
            links: site.configuration.problemLinks)
        content.fields.varyByPage()
        return content
    }

    private func entry(status: Int, _ problem: ProblemKind?, _ details: AccessLogDetails) -> AccessLogEntry {
        AccessLogEntry(
            method: head.method.rawValue, path: place?.logged(head.path) ?? head.path, status: status,
            requestID: id, client: head.client, problem: problem?.slug, details: details)
    }

    /// Counts the request, logs it, and ends its span.
    private func record(
        _ entry: inout AccessLogEntry, after duration: Duration, _ span: RequestSpan?, in service: ServiceContext?
    ) {
        entry.duration = duration
        entry.traceID = service?.trace?.traceID
        site.metrics(of: place).record(entry, head.method)
        site.observers.record(entry, route: place?.path, span)
    }
}

extension Reply {
    /// The reply as a response of the framework, which took so long.
    fileprivate func response(after duration: Duration) -> Response {
        var fields = HTTPFields()
        for line in String(buffer: head).split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
            fields.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " })))
        }
        fields[.serverTiming] = "total;dur=\(duration.milliseconds)"
        var response = Response(
            status: HTTPResponse.Status(code: status), headers: fields, body: ResponseBody(byteBuffer: body))
        // It would be the length of the image, not of this empty response (RFC 9110 §8.6).
        if response.status == .notModified { response.headers[.contentLength] = nil }
        return response
    }
}

extension Duration {
    /// Milliseconds with three decimals. Formatting whole microseconds is faster than formatting a floating-point
    /// number.
    package var milliseconds: String {
        let (seconds, attoseconds) = components
        let microseconds = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        let fraction = String(microseconds % 1_000)
        return "\(microseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    }
}
