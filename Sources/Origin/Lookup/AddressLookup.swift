import DarkroomNetwork
import Foundation

/// Lookups by the operating system, which cannot be interrupted: `getaddrinfo` returns when the system gives up, after
/// about 10 s by default (`man resolv.conf`).
enum AddressLookup {
    /// Runs a lookup on a thread that ends with it, so that an idle lookup has no threads. Returns at once.
    ///
    /// - Parameter completion: called once, on that thread, with all addresses in the order of RFC 6724; with none if
    ///   the lookup failed.
    static func onThread(_ name: String, completion: @escaping @Sendable ([IPAddress]) -> Void) {
        let thread = Thread { completion(addresses(of: name)) }
        thread.name = "darkroom.lookup"
        thread.stackSize = 1 << 20
        thread.start()
    }

    private static func addresses(of name: String) -> [IPAddress] {
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
    /// The address in one result of `getaddrinfo`, or nil for another address family.
    ///
    /// Read at its offset, which is the same on every system: after family and port in `sockaddr_in`, and after the
    /// flow label in `sockaddr_in6`.
    fileprivate init?(_ answer: addrinfo) {
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
