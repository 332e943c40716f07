import DarkroomMachine
import Dispatch
import Foundation
import Logging

/// Writes what the server does to the log at each SIGUSR1: a line for each thread, then one with all gauges of the
/// metrics, such as connections, queues, downloads and workers.
///
/// The signal has a thread of its own, so that a server whose other threads are stuck still reports. The threads come
/// first, because reading the gauges may wait for a stuck part.
struct StateReport {
    private let source: any DispatchSourceSignal

    init(logger: Logger, _ families: @escaping @Sendable () -> [MetricFamily]) {
        #if canImport(Darwin)
            // Dispatch receives the signal beside its default action, which ends the process.
            signal(SIGUSR1, SIG_IGN)
        #endif
        source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: DispatchQueue(label: "state report"))
        source.setEventHandler {
            for thread in ThreadState.all {
                var fields: Logger.Metadata = ["name": "\(thread.name)", "state": "\(thread.state)"]
                fields["waits-in"] = thread.waitsIn.map { "\($0)" }
                logger.warning("thread", metadata: fields)
            }
            logger.warning("state", metadata: Self.fields(families()))
        }
        source.activate()
    }

    func cancel() { source.cancel() }

    /// The gauges, each series by the name of its metric and the values of its labels.
    static func fields(_ families: [MetricFamily]) -> Logger.Metadata {
        var fields = Logger.Metadata()
        for family in families where family.kind == .gauge && !family.name.hasSuffix("_info") {
            for series in family.series {
                guard case .number(let value) = series.value else { continue }
                let parts = [family.name.replacing(/^darkroom_/, with: "")] + series.labels.values
                let name = parts.joined(separator: "-").replacing("_", with: "-")
                fields[name] = Int(exactly: value).map { "\($0)" } ?? "\(value)"
            }
        }
        return fields
    }
}
