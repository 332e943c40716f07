import DarkroomNetwork
import DarkroomVips
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

@testable import DarkroomOrigin

/// An origin that answers from a table, optionally behind a gate, and counts its requests. It answers 304 to validators
/// of its current image.
final class FakeOrigin: OriginFetching {
    /// The response to a path.
    indirect enum Answer: Sendable {
        case picture(ByteBuffer, HTTPFields = [:])
        case failure(OriginError)
        /// 304 whatever the validators; without validators the other answer, if there is one.
        case notModified(HTTPFields, otherwise: Answer? = nil)

        static func status(_ status: Int, _ fields: HTTPFields = [:]) -> Answer {
            let refusal = UnusableResponse(
                status: status, headers: fields, requestedAt: WallClock.start, receivedAt: WallClock.start)
            return .failure([404, 410].contains(status) ? .notFound(refusal) : .unexpectedStatus(refusal))
        }
    }

    let fetches = Counter()
    let cancelled = Counter()
    private let answers: Mutex<[String: Answer]>
    private let gate: Gate?
    private let wall: WallClock
    private let seen = Mutex<[OriginRequest]>([])
    private let forgiven = Mutex<[String?]>([])
    private let refused = Mutex<[String: OriginError]>([:])
    private let isNextLetThrough = Mutex(false)
    private let budget = InFlightByteBudget(budgetBytes: 1 << 30)

    private let releases = Watched(())

    init(_ answers: [String: Answer], gate: Gate? = nil, wall: WallClock = WallClock()) {
        self.answers = Mutex(answers)
        self.gate = gate
        self.wall = wall
        budget.onRelease { [releases] in releases.change { _ in } }
    }

    /// The bytes of images that are held.
    var usedBytes: Int { budget.usedBytes }

    /// Returns once nothing holds the bytes of an image.
    func released() async { await releases.wait { [budget] _ in budget.usedBytes == 0 } }

    convenience init(
        _ body: ByteBuffer, _ fields: HTTPFields = [:], gate: Gate? = nil, wall: WallClock = WallClock()
    ) {
        self.init(["*": .picture(body, fields)], gate: gate, wall: wall)
    }

    var requests: [OriginRequest] { seen.withLock { $0 } }

    /// Sets the answer for every path without its own.
    func answer(_ answer: Answer) { self.answer("*", answer) }

    func answer(_ path: String, _ answer: Answer) {
        answers.withLock { $0[path] = answer }
    }

    /// Refuses a path from now on.
    func refuse(_ path: String, _ error: OriginError) { refused.withLock { $0[path] = error } }

    func refusal(of source: SourceURL) -> OriginError? { refused.withLock { $0[source.path] } }

    /// Lets the next request pass the closed gate.
    func letNextPass() { isNextLetThrough.withLock { $0 = true } }

    /// The hosts whose outages were cleared; nil = all.
    var forgottenOutages: [String?] { forgiven.withLock { $0 } }

    func clearOutages(ofHost host: String?) { forgiven.withLock { $0.append(host) } }

    /// How often it was told to start waiting requests.
    let starts = Counter()

    func startWaiting() { starts.add() }

    func sentFields(for request: OriginRequest) -> HTTPFields { request.headers }

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        seen.withLock { $0.append(request) }
        // The answer is determined when the request arrives: tests that wait for the count then change answer and time.
        let answer = answers.withLock { $0[request.url.path] ?? $0["*"] ?? .status(404) }
        let askedAt = wall.now
        // So many requests mean an endless loop.
        guard fetches.add() < 1_000 else { throw .cancelled }
        let passes = isNextLetThrough.withLock { isNext in
            defer { isNext = false }
            return isNext
        }
        if !passes, let gate, await !gate.pass() {
            cancelled.add()
            throw .cancelled
        }
        return try self.answer(to: request, with: answer, askedAt: askedAt)
    }

    private func answer(
        to request: OriginRequest, with answer: Answer, askedAt: Date
    ) throws(OriginError) -> OriginResponse {
        switch answer {
        case .failure(let error): throw error
        case .notModified(let fields, let otherwise):
            if request.validators.isEmpty, let otherwise {
                return try self.answer(to: request, with: otherwise, askedAt: askedAt)
            }
            return OriginResponse(
                url: request.url, status: .notModified, headers: fields, body: ByteBuffer(), requestedAt: askedAt,
                receivedAt: askedAt, sentFields: request.headers)
        case .picture(let body, var fields):
            if fields[.lastModified] == nil { fields[.lastModified] = "Sun, 06 Nov 1994 08:49:37 GMT" }
            let isKnown =
                request.validatedURL == request.url.canonical
                && request.validators[.ifNoneMatch].map { $0 == fields[.eTag] } ?? false
            var response = OriginResponse(
                url: request.url, status: isKnown ? .notModified : .ok, headers: fields,
                body: isKnown ? ByteBuffer() : body, requestedAt: askedAt, receivedAt: askedAt,
                sentFields: request.headers)
            response.reservation = reservation(isKnown ? 0 : body.readableBytes)
            return response
        }
    }

    /// Counts bytes for ``released()`` until its last reference ends.
    func reservation(_ bytes: Int) -> ByteReservation {
        let reservation = budget.makeReservation()
        reservation.finish(bytes: bytes)
        return reservation
    }
}

/// Images generated for tests.
enum Pictures {
    /// A PNG of one color.
    static func png(width: Int = 40, height: Int = 30, color: [UInt8] = [200, 80, 40]) throws -> ByteBuffer {
        let bytes = (0..<(width * height)).flatMap { _ in color }
        let image = try VipsImage.fromBytes(bytes, width: width, height: height, bands: 3)
            .applying("copy", ["interpretation": "srgb"])
        return try VipsSaver.png.encode(image)
    }

    /// A PNG that does not compress: three bytes per pixel.
    static func noise(width: Int, height: Int) throws -> ByteBuffer {
        var random = SeededGenerator(seed: 1)
        let bytes = (0..<(width * height * 3)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let image = try VipsImage.fromBytes(bytes, width: width, height: height, bands: 3)
            .applying("copy", ["interpretation": "srgb"])
        return try VipsSaver.png.encode(image)
    }

    static let red = Result { try png(color: [200, 20, 20]) }
    static let green = Result { try png(color: [20, 200, 20]) }
}
