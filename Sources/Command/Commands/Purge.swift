import ArgumentParser
import DarkroomEdgePurging
import DarkroomNetwork
import DarkroomWeb
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove images from a server, and from the caches in front of it.",
        usage: """
            darkroom purge URL ... --server http://127.0.0.1:8080 [--soft] [--wait]
            darkroom purge --host|--prefix|--tag NAME ... --server http://127.0.0.1:8080
            """,
        discussion: """
            Removes each source with all images made from it, from the server, from all servers that share a store \
            with it, and from the CDNs and caches of the server's setting purge-to.

            The server's admin-token is read from the environment (DARKROOM_ADMIN_TOKEN) or from the file that \
            --admin-token-file names, not from a flag, which is visible in the process list. A server with an \
            admin-port takes purges there; if it has no admin-token, none is needed.

            With --wait, each answer comes when the purge holds on all servers and all caches have confirmed it. After \
            ten minutes, or when a cache refuses, the purge stays in the server's queue and counts as failed here.

            The exit status is 0 if everything was purged, 1 if something was not or, with --wait, is pending, 64 if \
            the arguments are wrong, and 130 after Ctrl-C.
            """)

    @Argument(help: "URLs of sources; with --host, --prefix or --tag, hosts, beginnings of URLs or the origin's tags.")
    var names: [String]
    @Option(help: "URL of the server, such as http://127.0.0.1:8080.")
    var server: String
    @Flag(help: "Purge all sources of hosts.")
    var host = false
    @Flag(help: "Purge all sources whose URL begins with these texts.")
    var prefix = false
    @Flag(help: "Purge all sources with these tags of their origin.")
    var tag = false
    @Flag(help: "Mark images stale instead of removing them, so that unchanged ones survive.")
    var soft = false
    @Flag(help: "Wait until the purge holds everywhere.")
    var wait = false
    @Option(help: "File with the server's admin-token.", completion: .file())
    var adminTokenFile: String?
    @Flag(help: "Print one JSON object per line for each name.")
    var json = false

    func validate() throws {
        _ = try PrefetchClient.baseURL(server)
        guard [host, prefix, tag].count(where: \.self) <= 1 else {
            throw ValidationError("--host, --prefix and --tag exclude each other.")
        }
        guard !names.isEmpty else { throw ValidationError("Name at least one URL, host, prefix or tag.") }
    }

    func run() async throws {
        let client: PrefetchClient
        do throws(SettingError) {
            let silence = EdgePurger.maxWait + .seconds(60)
            client = PrefetchClient(
                server: server,
                token: try AdminTokenFile.token(inFile: adminTokenFile),
                silence: wait ? TimeAmount(silence) : .seconds(60))
        } catch {
            StandardError.write(CommandOutput.printable(error.description))
            throw ExitCode.failure
        }
        let status = await run(client)
        await client.shutdown()
        guard status == 0 else { throw ExitCode(status) }
    }

    /// The parameter of `DELETE /cache`.
    private var kind: String { host ? "host" : prefix ? "prefix" : tag ? "tag" : "url" }
}

// MARK: Purges

extension Purge {
    /// Purges name by name and returns the exit status.
    private func run(_ client: PrefetchClient) async -> Int32 {
        let stop = StopFlag()
        let output = CommandOutput(stop: stop)
        let progress = Mutex(WorkProgress(total: names.count, finished: 0))
        await output.showing {
            progress.withLock(\.self)
        } untilStopped: {
            for name in names where !stop.isSet && !Task.isCancelled {
                let isDone = await purge(name, client, output)
                if stop.isSet { break }
                progress.withLock { progress in
                    progress.finished += 1
                    if !isDone { progress.failed += 1 }
                }
            }
        }
        let result = progress.withLock(\.self)
        if let status = output.endIfStopped(leaving: names.count - result.finished, "name") { return status }
        return result.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE
    }

    /// - Returns: whether all went as asked.
    private func purge(_ name: String, _ client: PrefetchClient, _ output: CommandOutput) async -> Bool {
        do throws(PrefetchFailure) {
            let answer = try await client.purge(kind, name, isSoft: soft, waits: wait)
            if json {
                output.print(JSONLine.encoded(Line(name: name, answer: answer, error: nil)))
            } else {
                output.print(Self.sentence(name, answer, waited: wait))
            }
            return !wait || answer.pending.isEmpty
        } catch {
            guard !Task.isCancelled else { return false }
            let sentence = error.sentence(server, hasToken: client.token != nil)
            if json {
                output.print(JSONLine.encoded(Line(name: name, answer: nil, error: sentence)))
            } else {
                output.printError("\(name): \(sentence)")
            }
            return false
        }
    }

    private struct Line: Encodable {
        let name: String
        let answer: PurgeAnswer?
        let error: String?
    }

    static func sentence(_ name: String, _ answer: PurgeAnswer, waited: Bool) -> String {
        var parts = [
            "\(CommandOutput.printable(name)): \(FileTally.counted(answer.sources, "source")) "
                + (answer.soft ? "marked stale" : "removed") + " (\(ByteText(answer.bytes)))."
        ]
        if let seconds = answer.propagation, !waited { parts.append("On all servers within \(seconds) s.") }
        if answer.running == true { parts.append("The server continues.") }
        let told = answer.edges?.filter { $0.state == .told }.map(\.edge) ?? []
        if !told.isEmpty { parts.append("Confirmed: \(told.joined(separator: ", ")).") }
        let pending = answer.pending.map { edge in edge.edge + (edge.reason.map { " (\($0))" } ?? "") }
        if !pending.isEmpty { parts.append("Pending: \(pending.joined(separator: ", ")).") }
        return parts.joined(separator: " ")
    }
}

/// A server's answer to a purge.
struct PurgeAnswer: Codable, Equatable, Sendable {
    var sources: Int
    var entries: Int
    var bytes: Int
    var soft: Bool
    /// Seconds until the purge holds on all servers; nil = it holds already.
    var propagation: Int?
    /// The caches in front; nil = the server has none.
    var edges: [EdgeProgress]?
    /// Whether the server is still removing entries; nil = it has ended.
    var running: Bool?

    /// The caches in front that have not confirmed the purge.
    var pending: [EdgeProgress] { edges?.filter { $0.state == .pending } ?? [] }
}

extension PrefetchClient {
    /// Purges the images that a parameter of `DELETE /cache` selects. If it waits, the server answers only once all
    /// caches have confirmed the purge.
    func purge(
        _ kind: String, _ name: String, isSoft: Bool, waits: Bool
    ) async throws(PrefetchFailure) -> PurgeAnswer {
        var query = "\(kind)=\(PercentEncoding.encode(name))"
        if isSoft { query += "&soft=true" }
        if waits { query += "&wait=true" }
        return try await document(request("/cache?\(query)", .DELETE), expecting: .ok, .accepted)
    }
}
