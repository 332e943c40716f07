import DarkroomStore
import Foundation
import Logging
import NIOCore

/// Measures the disk store alone. Prints one line per figure.
///
/// ```
/// StoreBench million [--entries 1000000] [--folder F]   startup, look-ups, writes, evictions: many small entries
/// StoreBench originals [--entries 500] [--folder F]     what it costs to write entries of 1 MB
/// StoreBench images [--entries 2000] [--folder F]       the processor time of writing and looking up images
/// ```
@main struct StoreBench {
    static func main() async throws {
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        switch arguments.command {
        case "million": try await Million(arguments, entries: 1_000_000).run()
        case "originals": try await Originals(arguments, entries: 500).run()
        case "images": try await Images(arguments, entries: 2000).run()
        case Million.victim: try await Million(arguments, entries: 0).writeAndDie()
        default:
            FileHandle.standardError.write(
                Data("usage: StoreBench million|originals|images [--entries N] [--folder F]\n".utf8))
            exit(64)
        }
    }
}

/// What was asked for on the command line.
struct Arguments {
    let command: String
    private var values: [String: String] = [:]

    init(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        command = rest.popFirst() ?? ""
        while let name = rest.popFirst(), let value = rest.popFirst() { values[name] = value }
    }

    var entries: Int? { values["--entries"].flatMap { Int($0) } }

    /// The folder to work in; below it a new one is made and removed again.
    var folder: String { values["--folder"] ?? FileManager.default.temporaryDirectory.path }
}

/// Prints a figure.
func report(_ name: String, _ value: Double, _ unit: String) {
    let text = value >= 100 ? String(Int(value.rounded())) : String((value * 100).rounded() / 100)
    // At once, also into a file: a run takes long.
    FileHandle.standardOutput.write(Data("\(name): \(text)\(unit.isEmpty ? "" : " ")\(unit)\n".utf8))
}

/// How long something takes.
func seconds(_ work: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await work()
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Double(seconds) + Double(attoseconds) / 1e18
}

/// Opens a store for measurement.
func open(_ folder: String, budgetBytes: Int = 1 << 40) async throws -> DiskStore {
    var configuration = DiskStore.Configuration(directory: folder)
    configuration.budgetBytes = budgetBytes
    configuration.queuedEntries = 4096
    return try await DiskStore(configuration, logger: Logger(label: "store-bench"))
}

/// The processor time that this process has used, in seconds, within programs and within the system.
func processorSeconds() -> (user: Double, system: Double) {
    var usage = rusage()
    #if canImport(Glibc)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
        getrusage(RUSAGE_SELF, &usage)
    #endif
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return (seconds(usage.ru_utime), seconds(usage.ru_stime))
}
