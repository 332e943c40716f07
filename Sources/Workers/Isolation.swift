/// Where foreign bytes are decoded, and what is done about layers of the sandbox that this system does not have.
package enum Isolation: String, CaseIterable, Sendable {
    /// In worker processes with every layer; the server does not start without one of them.
    case strict
    /// In worker processes with the layers that there are; what is missing is warned of.
    case auto
    /// In the server's own process.
    case none
}

/// A wall between a worker and everything else.
package enum IsolationLayer: String, CaseIterable, Codable, Sendable {
    /// It ends with its server, gains no privileges by what it executes, and can't be looked into.
    case bound
    /// Memory, file size, processor time, descriptors and threads are limited, and it leaves no core file (setrlimit(2)).
    case limits
    /// Of all files it can read libraries and fonts, and write none; TCP and other processes are out of reach (landlock(7)).
    case landlock
    /// No system calls but those that computing takes: no sockets, no processes, nothing executed (seccomp(2)).
    case seccomp
}
