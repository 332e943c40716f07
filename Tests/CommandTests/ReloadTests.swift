import Foundation
import NIOCore
import Synchronization
import Testing

/// Says when a load is over.
private final class LoadEnd: Sendable {
    let isReached = Mutex(false)
}

/// SIGHUP, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct ReloadTests {
    /// A server whose settings are in a file.
    private struct Site {
        let file: URL
        let server: DarkroomProcess

        init(_ settings: String, flags: String...) async throws {
            file = try URL.temporaryFile("darkroom.yaml", settings)
            server = try await DarkroomProcess(
                serving: [
                    "--config", file.path, "--port", "0", "--cache-dir", try URL.temporaryFolder().path,
                    "--local-root", URL.fixtures.path,
                ] + flags)
        }

        func reload(_ settings: String) throws {
            try settings.write(to: file, atomically: true, encoding: .utf8)
            kill(server.identifier, SIGHUP)
        }

        /// Waits until the log has one more line with these words, and returns it.
        func line(_ words: String) async -> String {
            while true {
                if let line = server.log.split(separator: "\n").last(where: { $0.contains(words) }) {
                    return String(line)
                }
                await Task.yield()
            }
        }

        func status(_ target: String) async throws -> Int { try await Client.get(server.base + target).status }
    }

    private static func secret(_ key: String) -> String { "\(key)-0123456789abcdef0123456789abcdef" }
    private static func keys(_ ids: String...) -> String {
        "signing-keys: \"" + ids.map { "\($0):\(secret($0))" }.joined(separator: ",") + "\"\n"
    }

    private static func signed(_ query: String, by key: String) throws -> String {
        let run = try DarkroomProcess.run(
            ["sign", query], environment: ["DARKROOM_SIGNING_KEYS": "\(key):\(secret(key))"])
        return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `Keys change without a failed request, and a bad file changes nothing`() async throws {
        let site = try await Site(Self.keys("lasting", "old"))
        let query = "url=local:///sample.jpg&w=20"
        let lasting = try (20..<24).map { try Self.signed("url=local:///sample.jpg&w=\($0)", by: "lasting") }
        let (old, new) = (try Self.signed(query, by: "old"), try Self.signed(query, by: "new"))
        let end = LoadEnd()
        let load = Task {
            try await withThrowingTaskGroup(of: [Int].self) { group in
                for target in lasting {
                    group.addTask {
                        var statuses: [Int] = []
                        while !end.isReached.withLock(\.self) { statuses.append(try await site.status(target)) }
                        return statuses
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        // The third is answered by the fast path.
        for _ in 0..<3 { #expect(try await site.status(old) == 200) }
        #expect(try await site.status(new) == 403)
        try site.reload(Self.keys("lasting", "new") + "queue-depth: 7\n")
        #expect(await site.line("reloaded").contains("restart-needed=queue-depth"))
        #expect(try await site.status(old) == 403)
        for _ in 0..<3 { #expect(try await site.status(new) == 200) }
        try site.reload("signing-keys: \"old:short\"\n")
        let reason = await site.line("reload failed")
        #expect(reason.contains("signing-keys") && !reason.contains("short"))
        #expect(try await site.status(old) == 403)
        #expect(try await site.status(new) == 200)
        end.isReached.withLock { $0 = true }
        let statuses = try await load.value
        #expect(statuses.count > 20 && statuses.allSatisfy { $0 == 200 })
        #expect(await site.server.stop() == 0)
    }

    @Test func `What a key has used is kept, and a higher quota applies at once`() async throws {
        func keys(_ egress: String) -> String {
            """
            signing-keys:
              tenant:
                secret: \(Self.secret("tenant"))
                cache: 1MiB
                processor: 60s/m
                egress: \(egress)

            """
        }
        let token = "a-token-of-enough-letters"
        let site = try await Site(keys("1B/d"), flags: "--admin-token", token)
        func sample(_ name: String) async throws -> Double? {
            let admin = [("Authorization", "Bearer \(token)")]
            let answer = try await Client.get("\(site.server.base)/metrics", fields: admin)
            let line = String(buffer: answer.body).split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            return line.flatMap { Double($0.dropFirst(name.count + 1)) }
        }
        let image = try Self.signed("url=local:///sample.jpg&w=20", by: "tenant")
        #expect(try await site.status(image) == 200)
        let refused = try await Client.get(site.server.base + image)
        #expect(refused.status == 429)
        #expect(try #require(refused["retry-after"].flatMap { Int($0) }) <= 86_400)
        let sent = try #require(try await sample(#"darkroom_key_egress_bytes_total{key="tenant"}"#))
        #expect(sent > 100)
        #expect(try await sample(#"darkroom_key_quota_refusals_total{key="tenant",quota="egress"}"#) == 1)
        let ratio = try await sample(#"darkroom_key_quota_used_ratio{key="tenant",quota="egress"}"#)
        #expect(try #require(ratio) > 1.9)
        #expect(try #require(try await sample(#"darkroom_key_processor_seconds_total{key="tenant"}"#)) > 0)
        #expect(try #require(try await sample(#"darkroom_key_cache_bytes{key="tenant"}"#)) > 100)
        try site.reload(keys("1GiB/d"))
        _ = await site.line("reloaded")
        #expect(try await site.status(image) == 200)
        #expect(try await sample(#"darkroom_key_egress_bytes_total{key="tenant"}"#) == 2 * sent)
        #expect(await site.server.stop() == 0)
    }

    @Test func `A host that is no longer allowed is refused, although its image is cached`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let networks = "allow-networks: 127.0.0.0/8\n"
        let site = try await Site(networks)
        for _ in 0..<3 { #expect(try await site.server.image(origin.url(), "w=20").status == 200) }
        try site.reload(networks + "allow-hosts: example.org\n")
        while try await site.server.image(origin.url(), "w=20").status != 403 {}
        try site.reload(networks + "log-level: error\n")
        while try await site.server.image(origin.url(), "w=20").status != 200 {}
        #expect(origin.count == 1)
        #expect(await site.server.stop() == 0)
        #expect(!site.server.log.contains("stopped"))
    }

    @Test func `The life of a server is one event for each step, in JSON on either stream`() async throws {
        let site = try await Site("rate-limit: 9/h\n", flags: "--log-format", "json", "--admin-port", "0")
        try site.reload("rate-limit: 8/h\n")
        _ = await site.line("reloaded")
        #expect(await site.server.stop() == 0)
        // Its only line has been read for the URL.
        #expect(await site.server.nextLine() == nil)
        let events = try site.server.log.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let steps = ["starting", "reloaded", "draining", "stopped"]
        let messages = events.compactMap { $0["message"] as? String }
        #expect(messages.filter(steps.contains) == steps)
        let reloaded = events.first { $0["message"] as? String == "reloaded" }
        #expect(reloaded?["changed"] as? String == "rate-limit" && reloaded?["signing-keys"] as? Int == 0)
        #expect(events.last?["uptime-seconds"] is Int)
    }

    @Test func `Once a server says that it listens, its log has the events of its start`() async throws {
        let folder = try URL.temporaryFolder()
        let server = try await DarkroomProcess(serving: ["--port", "0", "--cache-dir", folder.path])
        let log = server.log
        for event in ["info starting", "info image decoders run in worker processes", "info listening"] {
            #expect(log.contains(event))
        }
    }
}
