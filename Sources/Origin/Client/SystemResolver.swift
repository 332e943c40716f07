public import DarkroomNetwork
import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Resolves host names. ``GuardedHTTPClient`` resolves once per hop and connects only to the addresses returned.
public protocol NameResolver: Sendable {
    /// Returns all IPv4 and IPv6 addresses of the name, best first.
    ///
    /// - Throws: ``OriginError/unreachable(_:)`` with `dns`, ``OriginError/timedOut(_:)`` with `resolving`, or
    ///   ``OriginError/cancelled``. Must return promptly when the task is canceled.
    func addresses(of name: String) async throws(OriginError) -> [IPAddress]
}

/// The operating system's resolver, `getaddrinfo`, on threads of its own.
///
/// A lookup that hangs is abandoned at the timeout or when its task is canceled. It occupies its thread until the
/// system gives up.
public final class SystemResolver: NameResolver {
    private let pool: NIOThreadPool
    private let deadlines: DeadlineTimer

    /// - Parameters:
    ///   - threads: concurrent lookups. Others wait, which counts toward their timeout. Default: 8.
    ///   - timeout: the time limit of one lookup. Default: 5 s.
    public init(threads: Int = 8, timeout: Duration = .seconds(5)) {
        pool = NIOThreadPool(numberOfThreads: threads)
        deadlines = DeadlineTimer(timeout, clock: ContinuousClock())
        pool.start()
    }

    deinit {
        pool.shutdownGracefully { _ in }
    }

    /// Returns all addresses that `getaddrinfo` finds, in its order (RFC 6724).
    public func addresses(of name: String) async throws(OriginError) -> [IPAddress] {
        try await withDeadline(deadlines, expired: .timedOut(.resolving)) {
            [pool] () async throws(OriginError) in
            try await Self.lookUp(name, on: pool)
        }
    }

    /// Waits for a lookup that cannot be interrupted: the stream ends when the waiting task is canceled, and a lookup
    /// that has not started by then never does.
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

extension IPAddress {
    /// The address of a connected or bound socket, or nil for a Unix domain socket.
    init?(_ socketAddress: SocketAddress) {
        guard let text = socketAddress.ipAddress else { return nil }
        self.init(text)
    }

    /// The address in one result of `getaddrinfo`, or nil for another address family.
    ///
    /// Read at its offset, which is the same on every system: after family and port in `sockaddr_in`, and after the
    /// flow label in `sockaddr_in6`.
    init?(_ answer: addrinfo) {
        guard let address = UnsafeRawPointer(answer.ai_addr) else { return nil }
        switch answer.ai_family {
        case AF_INET:
            self = .v4(UInt32(bigEndian: address.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            self = .v6(UInt128(bigEndian: address.loadUnaligned(fromByteOffset: 8, as: UInt128.self)))
        default: return nil
        }
    }
}
