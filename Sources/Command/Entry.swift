import ArgumentParser
import DarkroomWorkers
import Foundation

/// Where the process begins.
@main
enum Entry {
    /// The subcommand that `darkroom serve` starts its workers with; nothing for people.
    static let workerCommand = "worker"

    /// A worker closes its sandbox while it has one thread, and an asynchronous `main` starts some before its first line runs.
    static func main() {
        if CommandLine.arguments.dropFirst().elementsEqual([workerCommand]) { return Worker.run() }
        Task {
            await Darkroom.main()
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }
}
