import DarkroomNetwork
import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension IPAddress {
    /// The address of a connected or bound socket, or nil for a Unix domain socket.
    init?(_ socketAddress: SocketAddress) {
        guard let text = socketAddress.ipAddress else { return nil }
        self.init(text)
    }

    /// The address in one answer of `getaddrinfo`, or nil for another family.
    ///
    /// It is read by its offset, which is the same on every system: after family and port in `sockaddr_in`, and after
    /// the flow label too in `sockaddr_in6`.
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
