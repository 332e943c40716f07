#if os(Linux)
    import Foundation
    import Testing

    /// The worker processes of a running server.
    @Suite(.timeLimit(.minutes(5)))
    struct IsolationTests {
        private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
            try await DarkroomProcess(["--local-root", URL.fixtures.path] + flags)
        }

        /// The process ids of the server's children: the zygote and the workers.
        private func children(of server: DarkroomProcess) -> Set<Int32> {
            let file = "/proc/\(server.identifier)/task"
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: file)) ?? []
            // By handles, since otherwise Foundation leaks a page for each empty file, gigabytes on a busy machine.
            let lists = threads.compactMap { thread in
                try? FileHandle(forReadingFrom: URL(fileURLWithPath: "\(file)/\(thread)/children")).readToEnd()
            }
            let text = String(decoding: Data(lists.joined()), as: UTF8.self)
            return Set(text.split(separator: " ").compactMap { Int32($0) })
        }

        /// The server's children that have closed the sandbox; the zygote has another name.
        private func workers(of server: DarkroomProcess) -> Set<Int32> {
            children(of: server).filter { child in
                (try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)) == "darkroom-worker\n"
            }
        }

        private func until(_ holds: () -> Bool) async throws {
            while !holds() {
                try Task.checkCancellation()
                await Task.yield()
            }
        }

        @Test func `Pictures are made in worker processes, forked as they are needed from one that has one thread`()
            async throws
        {
            let server = try await server(["--pixel-workers", "2"])
            try await until { workers(of: server).count == 1 }
            let zygote = try #require(children(of: server).subtracting(workers(of: server)).first)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(zygote)/task").count == 1)
            #expect(try await server.image("local:///sample.jpg", "w=20").status == 200)
            #expect((1...3).contains(workers(of: server).count))
            #expect(children(of: server).contains(zygote))
        }

        @Test func `Without isolation the server makes them itself, and they are the same`() async throws {
            let (here, there) = (try await server(["--isolation", "none"]), try await server())
            #expect(children(of: here).isEmpty)
            for query in ["w=20", "w=30&output=webp", "output=json&fields=all"] {
                let answer = try await here.image("local:///sample.jpg", query)
                #expect(answer.status == 200)
                #expect(try await there.image("local:///sample.jpg", query).body == answer.body)
            }
        }

        @Test func `Workers that are killed come back, and requests do not notice`() async throws {
            let server = try await server(["--pixel-workers", "1"])
            for width in 20..<25 {
                // With the zygote.
                try await until { children(of: server).count >= 2 }
                let killed = children(of: server)
                for child in killed { kill(child, SIGKILL) }
                #expect(try await server.image("local:///sample.jpg", "w=\(width)").status == 200)
                try await until { children(of: server).isDisjoint(with: killed) }
            }
            while try await Client.get("\(server.base)/health/ready").status != 200 { await Task.yield() }
            #expect(await server.stop() == 0)
        }

        @Test(arguments: [SIGTERM, SIGKILL])
        func `Workers end with their server`(signal: Int32) async throws {
            let server = try await server(["--pixel-workers", "1"])
            try await until { children(of: server).count == 2 && workers(of: server).count == 1 }
            let known = children(of: server)
            kill(server.identifier, signal)
            try await until { known.allSatisfy { kill($0, 0) != 0 } }
        }

        @Test func `A zygote by itself does nothing`() throws {
            #expect(try DarkroomProcess.run(["zygote"]).status == 1)
            #expect(try !DarkroomProcess.run(["--help"]).output.contains("zygote"))
        }
    }
#endif
