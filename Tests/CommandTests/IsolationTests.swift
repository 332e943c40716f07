#if os(Linux)
    import Foundation
    import Testing

    /// The worker processes of a running server.
    @Suite(.timeLimit(.minutes(5)))
    struct IsolationTests {
        private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
            try await DarkroomProcess(["--local-root", URL.fixtures.path] + flags)
        }

        /// The process ids of the server's children.
        private func workers(of server: DarkroomProcess) -> Set<Int32> {
            let file = "/proc/\(server.identifier)/task"
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: file)) ?? []
            let children = threads.compactMap { try? String(contentsOfFile: "\(file)/\($0)/children", encoding: .utf8) }
            return Set(children.joined(separator: " ").split(separator: " ").compactMap { Int32($0) })
        }

        private func until(_ holds: () -> Bool) async throws {
            while !holds() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }

        @Test func `Pictures are made in worker processes, one more than work at a time`() async throws {
            let server = try await server(["--pixel-workers", "2"])
            try await until { workers(of: server).count == 3 }
            #expect(try await server.image("local:///sample.jpg", "w=20").status == 200)
        }

        @Test func `Without isolation the server makes them itself, and they are the same`() async throws {
            let (here, there) = (try await server(["--isolation", "none"]), try await server())
            #expect(workers(of: here).isEmpty)
            for query in ["w=20", "w=30&output=webp", "output=json&fields=all"] {
                let answer = try await here.image("local:///sample.jpg", query)
                #expect(answer.status == 200)
                #expect(try await there.image("local:///sample.jpg", query).body == answer.body)
            }
        }

        @Test func `Workers that are killed come back, and requests do not notice`() async throws {
            let server = try await server(["--pixel-workers", "1"])
            for width in 20..<25 {
                try await until { workers(of: server).count == 2 }
                let killed = workers(of: server)
                for worker in killed { kill(worker, SIGKILL) }
                #expect(try await server.image("local:///sample.jpg", "w=\(width)").status == 200)
                try await until { workers(of: server).isDisjoint(with: killed) }
            }
            while try await Client.get("\(server.base)/health/ready").status != 200 { await Task.yield() }
            #expect(await server.stop() == 0)
        }

        @Test(arguments: [SIGTERM, SIGKILL])
        func `Workers end with their server`(signal: Int32) async throws {
            let server = try await server(["--pixel-workers", "1"])
            try await until { workers(of: server).count == 2 }
            let known = workers(of: server)
            kill(server.identifier, signal)
            try await until { known.allSatisfy { kill($0, 0) != 0 } }
        }

        @Test func `A worker by itself does nothing`() throws {
            #expect(try DarkroomProcess.run(["worker"]).status == 1)
            #expect(try !DarkroomProcess.run(["--help"]).output.contains("worker"))
        }
    }
#endif
