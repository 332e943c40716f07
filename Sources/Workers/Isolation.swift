/// Where untrusted images are decoded, and how missing sandbox layers are handled.
package enum Isolation: String, CaseIterable, Sendable {
    /// In worker processes with every layer. Start-up fails if one is missing.
    case strict
    /// In worker processes with the layers that the system has. A warning names missing ones.
    case auto
    /// In the server process.
    case none
}

/// A layer of the worker sandbox.
package enum IsolationLayer: String, CaseIterable, Codable, Sendable {
    /// The worker exits with its server, gains no privileges by executing files, and cannot be traced (prctl(2)).
    case bound
    /// Memory, file size, CPU time, descriptors and threads are limited, and core files are off (setrlimit(2)).
    case limits
    /// The worker can read libraries and fonts only, write nothing, and reach neither TCP nor other processes
    /// (landlock(7)).
    case landlock
    /// Only system calls needed for computation are allowed: no sockets, no processes, no execution (seccomp(2)).
    case seccomp
}

/// Why the worker pool did not start.
package enum WorkerStartError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `Isolation.strict` is set, and the system lacks these layers.
    case missingLayers([IsolationLayer])
    /// Worker processes are not available on this platform.
    case unsupported
    /// No worker became ready; the text is a diagnostic.
    case failed(String)

    package var description: String {
        switch self {
        case .missingLayers(let layers):
            "this system lacks the sandbox layers \(layers.map(\.rawValue).joined(separator: ", ")), which "
                + "strict isolation requires; use auto to run without them"
        case .unsupported: "worker processes require Linux"
        case .failed(let reason): "no worker process started (\(reason))"
        }
    }
}
