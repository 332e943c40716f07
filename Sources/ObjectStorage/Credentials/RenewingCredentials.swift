import DarkroomWaiting
import Foundation
package import Logging
package import NIOCore
import Synchronization

/// Credentials that are loaded when they are first needed, and renewed in the background before they expire.
///
/// One renewal runs at a time. While it runs or fails, the old credentials are used until they expire. A failure is
/// remembered for a few seconds, so that a source that does not answer is not asked by every request.
package final class RenewingCredentials: CredentialsProviding {
    /// Renewal begins this long before the expiration.
    static let renewalMargin: TimeInterval = 5 * 60
    /// Credentials are no longer used this long before the expiration: requests take time.
    static let expiryMargin: TimeInterval = 10
    /// The shortest time between two renewals.
    static let pause: TimeInterval = 5

    private typealias Outcome = Result<Credentials, CredentialsError>

    private struct State {
        var current: Credentials?
        var renewal: Task<Outcome, Never>?
        /// The last renewal that has ended.
        var last: (outcome: Outcome, date: Date)?
    }

    private let state = Mutex(State())
    private let load: @Sendable () async throws(CredentialsError) -> Credentials
    private let onShutdown: @Sendable () async -> Void
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Credentials as the AWS tools find them.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - eventLoopGroup: runs connections. Not shut down.
    package convenience init(
        environment: [String: String], eventLoopGroup: any EventLoopGroup,
        logger: Logger = Logger(label: "darkroom.object-storage")
    ) {
        let chain = CredentialsChain(
            environment: environment, http: CredentialsHTTP(eventLoopGroup: eventLoopGroup))
        self.init(load: chain.load, now: { Date() }, logger: logger, onShutdown: chain.shutdown)
    }

    init(
        load: @escaping @Sendable () async throws(CredentialsError) -> Credentials, now: @escaping @Sendable () -> Date,
        logger: Logger = Logger(label: "darkroom.object-storage"),
        onShutdown: @escaping @Sendable () async -> Void = {}
    ) {
        self.load = load
        self.now = now
        self.logger = logger
        self.onShutdown = onShutdown
    }

    /// Returns once no renewal is under way.
    func waitForRenewal() async { _ = await state.withLock(\.renewal)?.value }

    /// Ends a renewal and its connections.
    package func shutdown() async {
        state.withLock(\.renewal)?.cancel()
        await onShutdown()
    }

    package func credentials() async throws(CredentialsError) -> Credentials {
        switch nextStep() {
        case .use(let outcome): return try outcome.get()
        case .wait(let renewal): return try await Self.outcome(of: renewal).get()
        }
    }

    package func invalidate(_ credentials: Credentials) {
        state.withLock { state in
            guard state.current == credentials else { return }
            state.current = nil
            state.last = nil
        }
    }

    private enum Step {
        case use(Outcome)
        case wait(Task<Outcome, Never>)
    }

    private func nextStep() -> Step {
        let now = now()
        return state.withLock { state in
            let usable = state.current.flatMap { $0.isValid(at: now, for: Self.expiryMargin) ? $0 : nil }
            if let usable, usable.isValid(at: now, for: Self.renewalMargin) { return .use(.success(usable)) }
            if state.renewal == nil {
                if let last = state.last, abs(now.timeIntervalSince(last.date)) < Self.pause {
                    if let usable { return .use(.success(usable)) }
                    if case .failure = last.outcome { return .use(last.outcome) }
                }
                state.renewal = Task { await self.renew() }
            }
            if let usable { return .use(.success(usable)) }
            return state.renewal.map { .wait($0) } ?? .use(.failure(.notFound))
        }
    }

    private func renew() async -> Outcome {
        let outcome: Outcome
        do throws(CredentialsError) { outcome = .success(try await load()) } catch { outcome = .failure(error) }
        let isRepeated = state.withLock { $0.last?.outcome == outcome }
        if case .failure(let error) = outcome, error != .canceled, !isRepeated {
            logger.warning("credentials of the object store not renewed", metadata: ["error": "\(error)"])
        }
        let date = now()
        state.withLock { state in
            state.renewal = nil
            state.last = (outcome, date)
            if case .success(let credentials) = outcome { state.current = credentials }
        }
        return outcome
    }

    /// Waits for a renewal, which others wait for too. Ends at once if our task is canceled.
    private static func outcome(of renewal: Task<Outcome, Never>) async -> Outcome {
        let wait = Wait<Outcome>()
        Task { wait.end(await renewal.value) }
        return await wait.answer { wait.end(.failure(.canceled)) }
    }
}
