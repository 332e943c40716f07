public import DarkroomNetwork
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The operating system's resolver, `getaddrinfo`, on a few threads of its own.
///
/// A look-up that hangs is abandoned at the timeout or when its task is cancelled; it keeps its thread until the system
/// gives up, so at most `threads` of them exist.
public final class SystemResolver: NameResolver {
    private let pool: NIOThreadPool
    private let timeout: Duration

    /// - Parameters:
    ///   - threads: look-ups at a time; others wait, and their timeout runs.
    ///   - timeout: per look-up.
    public init(threads: Int = 8, timeout: Duration = .seconds(5)) {
        pool = NIOThreadPool(numberOfThreads: threads)
        self.timeout = timeout
        pool.start()
    }

    deinit {
        pool.shutdownGracefully { _ in }
    }

    /// All addresses that `getaddrinfo` finds, in its order (RFC 6724).
    public func addresses(of name: String) async throws(OriginError) -> [IPAddress] {
        try await withDeadline(timeout, clock: ContinuousClock(), onExpiry: Self.expire) {
            [pool] () async throws(OriginError) in
            try await Self.lookUp(name, on: pool)
        }
    }

    private static let expire: @Sendable () -> OriginError = { .timedOut(.resolving) }

    /// Waits for a look-up that cannot be interrupted: the stream ends when the waiting task is cancelled, and a look-up
    /// that has not begun by then never does.
    private static func lookUp(_ name: String, on pool: NIOThreadPool) async throws(OriginError) -> [IPAddress] {
        let (answers, continuation) = AsyncStream<[IPAddress]>.makeStream()
        let work = Task {
            continuation.yield((try? await pool.runIfActive { systemAddresses(of: name) }) ?? [])
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        for await answer in answers where !Task.isCancelled {
            guard !answer.isEmpty else { throw .unreachable(.dns) }
            return answer
        }
        throw .cancelled
    }

    private static func systemAddresses(of name: String) -> [IPAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var answers: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &answers) == 0, let answers else { return [] }
        defer { freeaddrinfo(answers) }
        return sequence(first: answers, next: { $0.pointee.ai_next }).compactMap { IPAddress($0.pointee) }
    }
}
