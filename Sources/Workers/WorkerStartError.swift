/// Why there are no workers.
package enum WorkerStartError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `Isolation.strict` was asked for, and this system does not have these layers.
    case missingLayers([IsolationLayer])
    /// Not on this platform.
    case unsupported
    /// No worker came up; the reason is for people.
    case failed(String)

    package var description: String {
        switch self {
        case .missingLayers(let layers):
            "this system lacks \(layers.map(\.rawValue).joined(separator: ", ")), and strict isolation takes them; auto goes without"
        case .unsupported: "worker processes need Linux"
        case .failed(let reason): "no worker process starts (\(reason))"
        }
    }
}
