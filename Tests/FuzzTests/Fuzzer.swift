import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What does not hold of an input, in a few words.
struct Unheld: Error {
    let reason: String
}

func hold(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
    if !condition { throw Unheld(reason: reason()) }
}

/// Feeds functions with damaged forms of good inputs.
///
/// Each input lies in `<target>.running` while it is tried: a crash takes the process along, and leaves the file.
struct Fuzzer {
    struct Failure {
        let reason: String
        let file: URL
    }

    /// Processor time that one input may take: what is linear takes a thousandth of that.
    static let maxSecondsAnInput = 2.0

    var rounds: Int
    var seconds: Double?
    var seed: UInt64
    var folder: URL

    init(rounds: Int = 300, seconds: Double? = nil, seed: UInt64 = 1, folder: URL) {
        self.rounds = rounds
        self.seconds = seconds
        self.seed = seed
        self.folder = folder
    }

    /// As `make fuzz` sets it: seconds for each target, the seed, and where failing inputs go.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let fallback = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-\(getpid())")
        self.init(
            seconds: environment["FUZZ_SECONDS"].flatMap(Double.init),
            seed: environment["FUZZ_SEED"].flatMap(UInt64.init) ?? 1,
            folder: environment["FUZZ_FOLDER"].map { URL(fileURLWithPath: $0) } ?? fallback)
    }

    /// Tries the function until the time, or the number of rounds, is over; the first failure is the test's.
    func run(
        _ target: String, seeds: [String], words: [String] = [], sourceLocation: SourceLocation = #_sourceLocation,
        _ body: ([UInt8]) throws -> Void
    ) {
        run(target, bytes: seeds.map { Array($0.utf8) }, words: words, sourceLocation: sourceLocation, body)
    }

    func run(
        _ target: String, bytes seeds: [[UInt8]], words: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: ([UInt8]) throws -> Void
    ) {
        guard let failure = firstFailure(of: target, bytes: seeds, words: words, body) else { return }
        Issue.record(
            "\(failure.reason); FUZZ_SEED=\(seed), input in \(failure.file.path)", sourceLocation: sourceLocation)
    }

    func firstFailure(
        of target: String, seeds: [String], words: [String] = [], _ body: ([UInt8]) throws -> Void
    ) -> Failure? {
        firstFailure(of: target, bytes: seeds.map { Array($0.utf8) }, words: words, body)
    }

    private func firstFailure(
        of target: String, bytes seeds: [[UInt8]], words: [String], _ body: ([UInt8]) throws -> Void
    ) -> Failure? {
        let running = folder.appendingPathComponent("\(target).running")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let descriptor = open(running.path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        var mutator = Mutator(seed: seed ^ UInt64(target.utf8.reduce(7) { $0 &* 31 &+ Int($1) }.magnitude))
        let deadline = seconds.map { reading(CLOCK_MONOTONIC) + $0 }
        var round = 0
        while deadline.map({ reading(CLOCK_MONOTONIC) < $0 }) ?? (round < rounds) {
            // First what is good, then what was made of it.
            let input = round < seeds.count ? seeds[round] : mutator.input(from: seeds, words: words)
            round += 1
            keep(input, in: descriptor)
            if let reason = reason(against: input, body) {
                return Failure(reason: reason, kept: running)
            }
        }
        if seconds != nil { print("fuzz: \(target): \(round) inputs, FUZZ_SEED=\(seed)") }
        unlink(running.path)
        rmdir(folder.path)
        return nil
    }

    private func reason(against input: [UInt8], _ body: ([UInt8]) throws -> Void) -> String? {
        let began = reading(CLOCK_THREAD_CPUTIME_ID)
        do {
            try body(input)
        } catch let unheld as Unheld {
            return unheld.reason
        } catch {
            return "threw \(error)"
        }
        let took = reading(CLOCK_THREAD_CPUTIME_ID) - began
        return took > Self.maxSecondsAnInput ? "took \(took) s" : nil
    }

    /// In a file that stays open: file systems flush what is truncated and closed, which takes milliseconds.
    private func keep(_ input: [UInt8], in descriptor: Int32) {
        _ = input.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        _ = ftruncate(descriptor, off_t(input.count))
    }

    private func reading(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension Fuzzer.Failure {
    /// With a name that later runs do not write over.
    fileprivate init(reason: String, kept running: URL) {
        let target = running.deletingPathExtension().lastPathComponent
        let file = running.deletingLastPathComponent().appendingPathComponent("\(target).failed")
        rename(running.path, file.path)
        self.init(reason: reason, file: file)
    }
}
