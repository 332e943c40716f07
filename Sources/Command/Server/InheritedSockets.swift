import DarkroomNetwork
import Foundation

/// The listening sockets that systemd opened for this process (socket activation, sd_listen_fds(3)).
///
/// A socket whose `FileDescriptorName=` is `admin` is for the admin listener, the other socket for the main listener.
struct InheritedSockets: Sendable {
    private(set) var main: InheritedSocket?
    private(set) var admin: InheritedSocket?

    init() {}

    /// The sockets that the variables `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` describe; none if they are absent
    /// or meant for another process.
    ///
    /// Throws if there are more sockets than listeners, or if a socket does not listen.
    init(_ environment: [String: String], process: Int32 = getpid()) throws(SettingError) {
        guard environment["LISTEN_PID"].flatMap(Int32.init) == process,
            let count = environment["LISTEN_FDS"].flatMap(CInt.init), count > 0
        else { return }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        guard count <= 2 else { throw SettingError("LISTEN_FDS: expected at most 2 sockets, got \(count).") }
        for index in 0..<count {
            let socket = try InheritedSocket(descriptor: Self.firstDescriptor + index)
            let isAdmin = index < names.count && names[Int(index)] == "admin"
            guard (isAdmin ? admin : main) == nil else {
                let names = "Give one of them FileDescriptorName=admin."
                throw SettingError("LISTEN_FDS: two sockets are for the same listener. \(names)")
            }
            if isAdmin { admin = socket } else { main = socket }
        }
    }

    private static let firstDescriptor: CInt = 3

    /// The sockets of this process. Its children do not inherit them.
    static func take() throws(SettingError) -> InheritedSockets {
        let sockets = try InheritedSockets(ProcessInfo.processInfo.environment)
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(variable) }
        return sockets
    }
}

/// A listening stream socket that this process was started with.
struct InheritedSocket: Sendable {
    let descriptor: CInt
    /// The bound address as people write it: `127.0.0.1:8080` or `unix:/run/darkroom.sock`.
    let address: String
    /// Whether only this machine can reach it.
    let isLocal: Bool

    /// Throws unless the descriptor is a listening stream socket.
    init(descriptor: CInt) throws(SettingError) {
        guard Self.option(SO_TYPE, of: descriptor) == Int32(Self.streamType),
            Self.option(SO_ACCEPTCONN, of: descriptor) == 1
        else { throw SettingError("LISTEN_FDS: descriptor \(descriptor) is not a listening stream socket.") }
        self.descriptor = descriptor
        (address, isLocal) = Self.boundAddress(of: descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func option(_ option: CInt, of descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }

    private static func boundAddress(of descriptor: CInt) -> (text: String, isLocal: Bool) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var (host, port) = ([CChar](repeating: 0, count: 256), [CChar](repeating: 0, count: 32))
        let result = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return CInt(-1) }
                return getnameinfo(
                    address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                    NI_NUMERICHOST | NI_NUMERICSERV)
            }
        }
        let (hostText, portText) = (text(host), text(port))
        if storage.ss_family == sa_family_t(AF_UNIX) { return ("unix:\(portText)", true) }
        guard result == 0 else { return ("descriptor \(descriptor)", false) }
        let isLocal = IPAddress(hostText)?.isLoopback ?? false
        return (hostText.contains(":") ? "[\(hostText)]:\(portText)" : "\(hostText):\(portText)", isLocal)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    #if canImport(Glibc)
        private static let streamType = SOCK_STREAM.rawValue
    #else
        private static let streamType = SOCK_STREAM
    #endif
}
