#if os(Linux)
    import Foundation
    import Testing

    @testable import DarkroomWorkers

    @Suite(.timeLimit(.minutes(5)))
    struct SandboxTests {
        /// What a worker that somebody has taken over might try, and the wall that it meets.
        static let refusals: [String: Int32] = [
            "read a file": EACCES, "read its memory": EACCES, "list a folder": EACCES, "write a file": EACCES,
            "open an internet socket": EPERM, "open a unix socket": EPERM, "connect its socket": EPERM,
            "send elsewhere": EPERM, "start a process": EPERM, "start a process anew": EPERM, "execute": EPERM,
            "trace its parent": EPERM, "signal its parent": EPERM, "signal another group": EPERM,
            "read another's memory": EPERM, "raise a limit": EPERM, "be dumpable": EPERM,
            "outlive its parent": EPERM, "map a terabyte": ENOMEM, "make a large file": EFBIG,
            "open many descriptors": EMFILE, "find a descriptor": EBADF,
        ]

        @Test func `Whatever a worker tries beside its work is refused`() async throws {
            let site = try await WorkerSite(.testing { $0.isolation = .strict })
            let worker = try #require(site.pool.take(for: nil) { false })
            let reply = try site.pool.call(worker.process).send(.probe).message
            guard case .probes(let results) = reply.outcome else {
                Issue.record("no results")
                return
            }
            for (probe, refusal) in Self.refusals {
                #expect(results.first { $0.name == probe }?.failure == Int(refusal), "\(probe)")
            }
            #expect(results.count == Self.refusals.count)
            site.pool.discard(worker.number, .protocolViolation)
        }

        private func file(_ name: String, of process: ChildProcess) throws -> String {
            let handle = try #require(FileHandle(forReadingAtPath: "/proc/\(process.identifier)/\(name)"))
            return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        }

        private func withWorker(
            _ configuration: WorkerConfiguration = .testing(), _ body: (ChildProcess) throws -> Void
        ) async throws {
            let site = try await WorkerSite(configuration)
            let process = try #require(site.pool.take(for: nil) { false }?.process)
            try body(process)
        }

        @Test func `The kernel says so too`() async throws {
            try await withWorker { worker in
                let status = try file("status", of: worker)
                #expect(status.contains("NoNewPrivs:\t1"))
                #expect(status.contains("Seccomp:\t2"))
                let limits = try file("limits", of: worker).split(separator: "\n").map { line in
                    line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
                }
                #expect(limits.contains("Max core file size 0 0 bytes"))
                #expect(limits.contains("Max open files 64 64 files"))
                #expect(limits.contains("Max cpu time 3600 3600 seconds"))
                #expect(limits.contains("Max file size 1073741824 1073741824 bytes"))
                #expect(!limits.contains { $0.hasPrefix("Max address space unlimited") })
                #expect(!limits.contains { $0.hasPrefix("Max processes unlimited") })
            }
        }

        @Test(arguments: [Isolation.auto, .none])
        func `It runs at a lower priority than the server`(isolation: Isolation) async throws {
            try await withWorker(.testing { $0.isolation = isolation }) { worker in
                #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(worker.identifier)) == 10)
            }
        }

        @Test func `It inherits neither variables nor descriptors`() async throws {
            setenv("DARKROOM_TEST_SECRET", "correct-horse", 1)
            let descriptor = dup(1)
            defer { close(descriptor) }
            try await withWorker { worker in
                let names = try file("environ", of: worker).split(separator: "\0").map { $0.prefix { $0 != "=" } }
                #expect(
                    Set(names).subtracting(["LD_LIBRARY_PATH", "LD_PRELOAD"]) == [
                        "LANG", "HOME", "SWIFT_BACKTRACE", "OMP_NUM_THREADS",
                    ])
                let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker.identifier)/fd")
                #expect(open.sorted() == ["0", "1", "2", "3"])
                let output = try FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/\(worker.identifier)/fd/2")
                #expect(output == "/dev/null")
            }
        }

        @Test func `Without isolation there are no walls`() async throws {
            try await withWorker(.testing { $0.isolation = .none }) { worker in
                let status = try file("status", of: worker)
                #expect(status.contains("Seccomp:\t0"))
            }
        }

        @Test func `Strict isolation takes every layer, and auto what there is`() async throws {
            let some: [IsolationLayer] = [.bound, .limits]
            await #expect(throws: WorkerStartError.missingLayers([.landlock, .seccomp])) {
                _ = try await WorkerSite(script: "hello; take", layers: some) { $0.isolation = .strict }
            }
            let site = try await WorkerSite(script: "hello; take", layers: some)
            #expect(site.processor.isHealthy)
        }
    }
#endif
