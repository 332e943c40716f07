import Foundation
import Synchronization
import UnixSignals

/// Why a command ends before its work is done.
enum StopReason: Equatable, Sendable {
    /// SIGINT or SIGTERM.
    case signal(Int32)
    /// Nothing more can be written, as this sentence says.
    case failure(String)

    var sentence: String {
        switch self {
        case .signal(let number): number == SIGINT ? "Interrupted." : "Terminated."
        case .failure(let sentence): sentence
        }
    }

    /// The exit status of the command: for a signal, the same as in shells.
    var status: Int32 {
        switch self {
        case .signal(let number): 128 + number
        case .failure: EXIT_FAILURE
        }
    }
}

/// Signals the threads of a command to stop. The first reason counts.
final class StopFlag: Sendable {
    private let state = Mutex<StopReason?>(nil)

    var reason: StopReason? { state.withLock(\.self) }
    var isSet: Bool { reason != nil }

    func set(_ reason: StopReason) {
        state.withLock { state in
            if state == nil { state = reason }
        }
    }

    /// Sets the flag at the first SIGINT or SIGTERM, then calls the closure, and ends the process at the second, until
    /// the task is canceled.
    func watchSignals(onStop: @escaping @Sendable () -> Void = {}) async -> Task<Void, Never> {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return Task {
            for await signal in signals {
                if isSet { _exit(128 + signal.rawValue) }
                set(.signal(signal.rawValue))
                onStop()
            }
        }
    }
}
