import Foundation
import Testing

/// Pure functions that read what strangers wrote, fed with damaged forms of it.
///
/// In the other tests' company each target gets a few hundred inputs; `make fuzz SECONDS=60` shares the seconds between
/// all. A target is a file of its own in `Targets`: an extension with one test.
@Suite(.serialized)
struct FuzzTests {
    let fuzzer = Fuzzer()
}

struct FuzzerTests {
    @Test func `Equal seeds make equal inputs`() {
        var first = Mutator(seed: 7)
        var second = Mutator(seed: 7)
        let seeds = [Array("url=x&w=9".utf8), Array("max-age=3".utf8)]
        for _ in 0..<200 {
            #expect(first.input(from: seeds, words: ["q"]) == second.input(from: seeds, words: ["q"]))
        }
    }

    @Test func `What fails is found and kept`() throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let fuzzer = Fuzzer(rounds: 20_000, seed: 3, folder: folder.url)
        let failure = try #require(
            fuzzer.firstFailure(of: "planted", seeds: ["harmless"]) { input in
                try hold(!input.contains(UInt8(ascii: "%")), "a percent sign")
            })
        #expect(failure.reason == "a percent sign")
        #expect(try Array(Data(contentsOf: failure.file)).contains(UInt8(ascii: "%")))
    }

    @Test func `An input is on disk before it is tried, so that a crash leaves it there`() throws {
        let folder = TemporaryFolder()
        defer { folder.remove() }
        let fuzzer = Fuzzer(rounds: 50, seed: 3, folder: folder.url)
        let failure = fuzzer.firstFailure(of: "watched", seeds: ["some text"]) { input in
            let onDisk = try Data(contentsOf: folder.url.appendingPathComponent("watched.running"))
            try hold(Array(onDisk) == input, "\(onDisk.count) bytes instead of \(input.count)")
        }
        #expect(failure == nil)
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }
}
