import ArgumentParser
import DarkroomMachine
import DarkroomQuery
import DarkroomTransforms
import DarkroomWorkers
import Foundation
import Logging
import NIOCore

struct TransformFiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transform", abstract: "Transform image files.",
        usage: """
            darkroom transform IN OUT [--w 400] [--fit cover] [--output webp] ...
            darkroom transform IN ... FOLDER [--overwrite] [--w 400] ...
            """,
        discussion: """
            Accepts the parameters of GET /image that concern the image itself: --w 400 is w=400, --flip is flip. \
            Marks, named images and texts, and parameters of caches and signatures do not apply to a file. Words after \
            -- are paths. The parameters, by theme:

            \(FileQuery.flagsByTheme)

            One file: without --output, the extension of OUT selects the format. A dash stands for standard input or \
            output.

            Many files: each IN is a file, a folder with everything below it, or a pattern in quotes, such as \
            'photos/**/*.jpg'. Results keep their names and subfolders in FOLDER, with the extension of their format; \
            FOLDER is created if necessary; for a single IN file, end it with a slash. As many images as there are \
            processor cores are transformed at once. Hidden files are left out, as are non-images in folders.

            No existing file is replaced, unless --overwrite is given.

            The exit status is 0 if nothing failed, 1 if a file failed or nothing could be started, 64 if the \
            arguments are wrong, and 130 after Ctrl-C.
            """)

    @Argument(parsing: .captureForPassthrough, help: .hidden) var words: [String] = []

    func validate() throws {
        let flags = words.prefix { $0 != "--" }
        guard !flags.contains("--help"), !flags.contains("-h") else { throw CleanExit.helpRequest(self) }
        let arguments = try TransformArguments(words)
        guard arguments.paths.count == 2 || !arguments.paths.contains("-") else {
            throw ValidationError("A dash stands for a single image; expected two paths, IN and OUT.")
        }
    }

    func run() async throws {
        let arguments = try TransformArguments(words)
        let target = arguments.paths.last ?? ""
        do {
            if try isFolder(target, for: arguments.paths) {
                try await transform(Array(arguments.paths.dropLast()), into: target, arguments)
            } else {
                try transform(arguments.paths[0], to: target, arguments)
            }
        } catch let error as InvalidParameter {
            throw Self.failure(error.detail)
        }
    }

    /// The exit status for wrong arguments, after this sentence.
    private static func failure(_ sentence: String) -> ExitCode {
        StandardError.write(CommandOutput.printable(sentence))
        return .validationFailure
    }

    /// Whether the last path is a folder for the results, rather than the result of a single file.
    private func isFolder(_ target: String, for paths: [String]) throws(ExitCode) -> Bool {
        guard target != "-" else {
            guard !Self.namesSeveral(paths[0]) else {
                throw Self.failure("Standard output takes a single image, and \(paths[0]) is a folder.")
            }
            return false
        }
        let kind = try? FileStatus(of: target).kind
        let isFolder = kind == .folder || kind == nil && target.hasSuffix("/")
        if paths[0] == "-" {
            guard !isFolder else {
                throw Self.failure("Standard input has no name; name a file in \(target).")
            }
            return false
        }
        guard !isFolder, paths.count > 2 || Self.namesSeveral(paths[0]) else { return isFolder }
        guard kind == nil else { throw Self.failure("\(target) is not a folder; several images need one.") }
        return true
    }

    /// Whether an input is a folder or a pattern.
    private static func namesSeveral(_ path: String) -> Bool {
        let kind = try? FileStatus(of: path).kind
        return kind == .folder || kind == nil && PathPattern(path) != nil
    }
}

// MARK: One file

extension TransformFiles {
    private func transform(_ source: String, to target: String, _ arguments: TransformArguments) throws {
        var parameters = arguments.parameters
        let suffix = URL(fileURLWithPath: target).pathExtension
        if !suffix.isEmpty, !parameters.contains(where: { $0.name == "output" }) {
            parameters.append(("output", suffix))
        }
        let query = try FileQuery(parameters)
        do {
            let bytes = try Self.read(source)
            // Before time is spent on the image.
            let kind = target == "-" ? nil : try? FileStatus(of: target).kind
            guard kind == nil || kind == .special || arguments.overwrites else { throw ResultFile.Failure.exists }
            let image = try InProcessImageProcessor().process(query.job(bytes)) { false }
            try Self.write(image.body, to: target, arguments)
        } catch let status as ExitCode {
            throw status
        } catch {
            StandardError.write(
                CommandOutput.printable(Self.sentence(error, source == "-" ? "Standard input" : source, target)))
            throw ExitCode.failure
        }
    }

    private static func read(_ source: String) throws(SourceFile.Failure) -> ByteBuffer {
        source == "-"
            ? try SourceFile.read(STDIN_FILENO, named: "Standard input")
            : try SourceFile.read(source, acceptsPipes: true)
    }

    private static func write(
        _ bytes: ByteBuffer, to target: String, _ arguments: TransformArguments
    ) throws {
        if target == "-" {
            try StandardOutput.write(bytes)
        } else if (try? FileStatus(of: target).kind) == .special {
            try ResultFile.write(bytes, toSpecialFile: target)
        } else {
            try ResultFile.write(bytes, to: target, replaces: arguments.overwrites)
        }
    }

    /// Why a source has no result.
    static func sentence(_ error: any Error, _ source: String, _ target: String) -> String {
        switch error {
        case let error as SourceFile.Failure: error.sentence(source)
        case let error as ImageProcessingError: "\(source): \(error.sentence)"
        case ResultFile.Failure.exists: "\(target) exists already; --overwrite replaces it."
        case ResultFile.Failure.unwritable(let error): error.sentence
        default: "\(error)"
        }
    }
}

// MARK: Many files

extension TransformFiles {
    private func transform(_ paths: [String], into folder: String, _ arguments: TransformArguments) async throws {
        let stop = StopFlag()
        let run = BatchRun(try FileQueries(arguments.parameters), overwrites: arguments.overwrites, stop: stop)
        let output = CommandOutput(stop: stop)
        let signals = await stop.watchSignals()
        defer { signals.cancel() }
        let start = ContinuousClock.now
        try await output.showing {
            run.progress
        } while: {
            let conflicts = await onThread { run.find(paths, into: folder) }
            guard conflicts.isEmpty else {
                for conflict in conflicts.prefix(Self.maxListedConflicts) { output.printError(conflict) }
                let rest = conflicts.count - Self.maxListedConflicts
                if rest > 0 { output.printError("\(FileTally.counted(rest, "more conflict")).") }
                output.printError("Nothing was written.")
                throw ExitCode.failure
            }
            if !stop.isSet { try await transform(run, into: folder, output) }
        }
        output.print(CommandOutput.printable(run.tally.summary(folder, ContinuousClock.now - start)))
        if let status = output.endIfStopped(leaving: run.left, "file") { throw ExitCode(status) }
        guard run.tally.failed == 0 else { throw ExitCode.failure }
    }

    private static let maxListedConflicts = 3

    private func transform(_ run: BatchRun, into folder: String, _ output: CommandOutput) async throws {
        do throws(ResultFile.Failure) { try ResultFile.makeFolders(folder) } catch {
            if case .unwritable(let error) = error { output.printError(error.sentence) }
            throw ExitCode.failure
        }
        let threads = ResourceDefaults.current.pixelWorkers
        let workers = try await startWorkers(threads, output)
        defer { workers?.stop() }
        let processing: any ImageProcessing = workers ?? InProcessImageProcessor()
        await onThread { run.transform(on: threads, by: processing) { output.printError($0) } }
    }

    /// Nil where this system has no workers; images are then processed in this process.
    private func startWorkers(_ count: Int, _ output: CommandOutput) async throws -> WorkerImageProcessor? {
        var configuration = WorkerConfiguration(workers: count, jobTimeout: .seconds(600), quarantine: .zero)
        configuration.subcommand = EntryPoint.zygoteCommand
        let logger = Logger(label: "darkroom") { _ in SwiftLogNoOpLogHandler() }
        do throws(WorkerStartError) {
            return try await WorkerImageProcessor(configuration, logger: logger)
        } catch {
            guard error != .unsupported else { return nil }
            output.printError("\(error).")
            throw ExitCode.failure
        }
    }
}

/// Runs blocking work on a thread of its own.
private func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: work()) }.start()
    }
}

/// The words after `darkroom transform`: paths, image parameters, and the flags of the command itself.
struct TransformArguments {
    /// Inputs, and the output last.
    private(set) var paths: [String] = []
    /// `--name value`, `--name=value` or `--name`.
    private(set) var parameters: [(name: String, value: String?)] = []
    /// Whether results replace existing files.
    private(set) var overwrites = false

    /// Throws unless there are an input and an output.
    init(_ words: [String]) throws(ValidationError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                paths.append(word)
                continue
            }
            guard word != "--" else {
                paths += rest
                break
            }
            let halves = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(halves[0])
            if name == "overwrite" {
                guard halves.count == 1 else { throw ValidationError("'--\(name)' takes no value.") }
                overwrites = true
            } else if halves.count == 2 {
                parameters.append((name, String(halves[1])))
            } else if let value = rest.first, !value.hasPrefix("--"), FileQuery.isValue(value, of: name) {
                parameters.append((name, value))
                rest = rest.dropFirst()
            } else {
                parameters.append((name, nil))
            }
        }
        guard paths.count < 2 else { return }
        // A parameter that does not exist takes the next word for its value, which may be the missing path.
        do throws(InvalidParameter) { _ = try FileQuery(parameters) } catch { throw ValidationError(error.detail) }
        throw ValidationError("Expected at least two paths, IN and OUT.")
    }
}
