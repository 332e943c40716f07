import DarkroomHTTPCaching
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Sends requests to one store: signs each attempt, classifies failures, and tries again where that may help.
///
///     execute ─ time limit ─┬─ credentials ─ sign ─ send ─ success: receive
///                           ├─ pause ◀────────────── 429, 500, 503, reset
///                           └─ correct clock, renew ◀ too skewed, expired; once each
struct RequestExecutor: Sendable {
    typealias Answer = HTTPTransport.Answer
    /// Reads an answer of a success status.
    typealias Receive<Value> = @Sendable (Answer, OperationProgress) async throws(AttemptFailure) -> Value

    let endpoint: ObjectStoreEndpoint
    let region: String
    let retries: RetryPolicy
    let transport: HTTPTransport
    let credentials: any CredentialsProviding
    let storeClock: StoreClock
    /// Ends operations at their time limits.
    let timer: DeadlineTimer
    /// Measures pauses.
    let clock: any Clock<Duration>
    /// From 0 to 1.
    let random: @Sendable () -> Double
    let onRequest: @Sendable (ObjectStoreOperation) -> Void

    /// - Parameter limit: the time for the whole operation, all attempts and the body included.
    func execute<Value: Sendable>(
        _ request: StoreRequest, within limit: Duration, accepting statuses: Set<Int>,
        _ receive: @escaping Receive<Value>
    ) async throws(ObjectStorageError) -> Value {
        let elapsed = clock.stopwatch()
        return try await withTimeLimit(limit, timer) { progress throws(ObjectStorageError) in
            var attempt = 1
            var corrections: Set<Correction> = []
            while true {
                let credentials = try await currentCredentials(progress)
                do throws(AttemptFailure) {
                    return try await send(request, credentials, statuses, progress, receive)
                } catch {
                    switch error.recovery {
                    case .correctClock(let date) where corrections.insert(.clock).inserted:
                        storeClock.correct(to: date)
                    case .renewCredentials where corrections.insert(.credentials).inserted:
                        self.credentials.invalidate(credentials)
                    case .retry(let minimum):
                        let pause = retries.pause(
                            afterAttempt: attempt, random: random(), retryAfter: minimum, remaining: limit - elapsed())
                        guard let pause else { throw error.error }
                        attempt += 1
                        progress.enter(.pause)
                        do { try await clock.sleep(for: pause) } catch { throw .canceled }
                    case .none, .correctClock, .renewCredentials:
                        throw error.error
                    }
                }
            }
        }
    }

    /// What is changed before another attempt, at most once each.
    private enum Correction { case clock, credentials }

    private func currentCredentials(_ progress: OperationProgress) async throws(ObjectStorageError) -> Credentials {
        progress.enter(.credentials)
        do throws(CredentialsError) {
            return try await credentials.credentials()
        } catch {
            throw error == .canceled ? .canceled : .credentials(error)
        }
    }

    private func send<Value>(
        _ request: StoreRequest, _ credentials: Credentials, _ statuses: Set<Int>, _ progress: OperationProgress,
        _ receive: Receive<Value>
    ) async throws(AttemptFailure) -> Value {
        let (signedAt, sentAt) = (storeClock.now, storeClock.uncorrected)
        let prepared = try Result { () throws(ObjectStorageError) in
            try request.signed(with: credentials, region: region, endpoint: endpoint, at: signedAt)
        }.mapError { AttemptFailure($0) }.get()
        progress.enter(.response)
        onRequest(request.operation)
        let answer: Answer
        do throws(TransportFailure) {
            answer = try await transport.send(prepared)
        } catch {
            throw AttemptFailure(error, mayRepeat: true)
        }
        progress.enter(.body)
        if statuses.contains(answer.status) {
            let date = answer.fields[.date].flatMap { HTTPDate(parsing: $0)?.date }
            if let date { storeClock.follow(date, sentAt: sentAt) }
            return try await receive(answer, progress)
        }
        throw try await failure(answer, request, signedAt: signedAt)
    }

    private func failure(
        _ answer: Answer, _ request: StoreRequest, signedAt: Date
    ) async throws(AttemptFailure) -> AttemptFailure {
        // An answer to HEAD has no body, and neither has one whose connection ends.
        var (details, isForeign): (S3ErrorDocument?, Bool) = (nil, false)
        if request.method != .HEAD {
            do throws(TransportFailure) {
                let body = try await answer.collect(upTo: AttemptFailure.maxDocumentBytes)
                details = body.flatMap { S3ErrorDocument($0.readableBytesView) }
                isForeign = details == nil && body?.readableBytes != 0
            } catch {
                guard error.error != .canceled else { throw AttemptFailure(.canceled) }
            }
        }
        return AttemptFailure(
            status: answer.status, fields: answer.fields, details, isForeign: isForeign, signedAt: signedAt)
    }
}

extension HTTPTransport.Answer {
    /// The whole body of an answer that is a document of S3 or empty.
    func document(upTo maxBytes: Int) async throws(AttemptFailure) -> ByteBuffer {
        do throws(TransportFailure) {
            if let document = try await collect(upTo: maxBytes) { return document }
        } catch {
            throw AttemptFailure(error, mayRepeat: true)
        }
        throw AttemptFailure(.notS3(status: status))
    }
}

/// How often and when a request is sent again, after the store asked for fewer requests or failed (429, 500, 503), or
/// the connection was reset.
///
/// Pauses are random between zero and a limit that doubles with each attempt ("full jitter"), so that clients that
/// failed together do not return together.
package struct RetryPolicy: Hashable, Sendable {
    /// The largest number of attempts, at least 1. Default: 3.
    package var maxAttempts = 3
    /// The limit of the first pause. Default: 50 ms.
    package var firstPause = Duration.milliseconds(50)
    /// The limit of all pauses. Default: 2 s.
    package var maxPause = Duration.seconds(2)

    /// The pause after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of failed attempts, from 1.
    ///   - random: from 0 to 1.
    ///   - retryAfter: the shortest pause, as the store asked for it.
    ///   - remaining: the time until the operation's limit.
    /// - Returns: nil if there is no other attempt, or no time for it.
    func pause(
        afterAttempt attempt: Int, random: Double, retryAfter: Duration?, remaining: Duration
    ) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        let doubled = firstPause * (1 << min(max(attempt, 1) - 1, 20))
        let pause = max(min(doubled, maxPause) * random, retryAfter ?? .zero)
        return pause < remaining ? pause : nil
    }
}

/// The deadline of an operation, with the phase that it is in.
typealias OperationProgress = PhasedDeadline<ObjectStorageError.Phase>

/// Runs an operation in a task of its own, which is canceled once the limit has passed or our task is canceled.
///
/// The function returns only after the operation has ended, so that nothing it started outlives the call: the operation
/// must respond to cancellation promptly.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ timer: DeadlineTimer,
    _ operation: @escaping @Sendable (OperationProgress) async throws(ObjectStorageError) -> Value
) async throws(ObjectStorageError) -> Value {
    let progress = OperationProgress(.credentials)
    let number = timer.begin(after: limit, progress.deadline.pass)
    defer { timer.end(number) }
    do throws(ObjectStorageError) {
        return try await progress.deadline.run { () async throws(ObjectStorageError) in try await operation(progress) }
    } catch {
        if error == .canceled, let phase = progress.phaseWhenPassed { throw .timedOut(phase) }
        throw error
    }
}
