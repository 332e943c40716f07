import Foundation

/// How a process ended.
enum Ending: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    /// - Parameter status: of `waitpid`.
    init(status: Int32) {
        let signal = status & 0x7f
        self = signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }

    /// Whether somebody else ended it, such as the kernel for want of memory: no decoder ends like that.
    var isFromOutside: Bool { [SIGKILL, SIGTERM, SIGINT, SIGHUP].map(Ending.signalled).contains(self) }

    var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signalled(let signal): "signal \(signal)"
        }
    }
}
