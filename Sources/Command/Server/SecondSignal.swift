import Foundation
import Logging
import UnixSignals

/// Whoever sends SIGTERM or SIGINT once more does not want to wait: the process ends at once. Nothing half-written can be read after the next
/// start, but what waited for the disk is lost.
enum SecondSignal {
    /// Counts signals from now on, until the task is cancelled.
    static func watch(logger: Logger) async -> Task<Void, Never> {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        return Task {
            var count = 0
            for await signal in signals {
                count += 1
                guard count > 1 else { continue }
                logger.warning("ending at once", metadata: ["signal": "\(signal)"])
                _exit(128 + signal.rawValue)
            }
        }
    }
}
