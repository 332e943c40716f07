import ArgumentParser
import Foundation
import NIOCore

struct Prefetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have a server cache a list of images before they are requested.",
        usage: """
            darkroom prefetch LIST --server http://127.0.0.1:8080 [--widths 320,640] [--query 'w=200&h=200'] ...
            """,
        discussion: """
            LIST is a file with one source URL per line, or a dash for standard input. Empty lines and lines that \
            begin with # are ignored. Without --widths and --query, images are cached unchanged.

            The server's admin-token is read from the environment (DARKROOM_ADMIN_TOKEN) or from the file that \
            --admin-token-file names, not from a flag, which is visible in the process list. A server with an \
            admin-port takes prefetches there; if it has no admin-token, none is needed.

            The list is sent as one job after another, each of at most 10,000 images. Ctrl-C cancels the job in \
            progress; images that are cached stay cached. If the connection is lost, it is opened again; the job \
            continues meanwhile.

            The exit status is 0 if every image is cached, 1 if an image failed or the server refused the list, \
            64 if the arguments are wrong, and 130 after Ctrl-C.
            """)

    @Argument(help: "File of source URLs, or - for standard input.", completion: .file())
    var list: String
    @Option(help: "URL of the server, such as http://127.0.0.1:8080.")
    var server: String
    @Option(help: "Widths to cache of each image, such as 320,640,1280.")
    var widths: String?
    @Option(
        name: .customLong("query"),
        help: "Query of GET /image without url, such as 'w=200&h=200&output=webp'. May be repeated.")
    var queries: [String] = []
    @Option(help: "Accept field that chooses formats as for a client, such as 'image/avif,image/webp'.")
    var accept: String?
    @Option(help: "File with the server's admin-token.", completion: .file())
    var adminTokenFile: String?
    @Flag(help: "Print one JSON object per line for each image that failed, and a last one with the counts.")
    var json = false

    func validate() throws {
        _ = try PrefetchClient.baseURL(server)
        _ = try widthList()
        if let accept, accept.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw ValidationError("--accept must be a single line.")
        }
    }

    func run() async throws {
        let list: PrefetchList
        let client: PrefetchClient
        do throws(SettingError) {
            list = PrefetchList(try text(), queries: queries, widths: (try? widthList()) ?? [])
            guard list.imageCount > 0 else { throw SettingError("\(self.list) names no images.") }
            client = PrefetchClient(
                server: server, token: try AdminTokenFile.token(inFile: adminTokenFile))
        } catch {
            StandardError.write(CommandOutput.printable(error.description))
            throw ExitCode.failure
        }
        let status = await run(list, client)
        await client.shutdown()
        guard status == 0 else { throw ExitCode(status) }
    }

    // MARK: Arguments

    private func widthList() throws(ValidationError) -> [Int] {
        let words = widths?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        return try words.map { word throws(ValidationError) in
            guard let width = Int(word.trimmingCharacters(in: .whitespaces)), width > 0 else {
                throw ValidationError("--widths must be integers such as 320,640,1280, got '\(word)'.")
            }
            return width
        }
    }

    private func text() throws(SettingError) -> String {
        let name = list == "-" ? "Standard input" : list
        let bytes: ByteBuffer
        do throws(FileError) {
            bytes = try FileBytes.read(list, upTo: PrefetchList.maxBytes)
        } catch {
            throw SettingError(
                error.code == EFBIG ? "\(name) is larger than \(PrefetchList.maxBytes >> 20) MiB." : error.sentence)
        }
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            throw SettingError("\(name) is not UTF-8 text.")
        }
        return text
    }
}

// MARK: Jobs

extension Prefetch {
    /// Runs all jobs and returns the exit status.
    private func run(_ list: PrefetchList, _ client: PrefetchClient) async -> Int32 {
        let stop = StopFlag()
        let output = CommandOutput(stop: stop)
        let server = PrefetchRun.Server(
            start: { [accept] batch throws(PrefetchFailure) in try await client.start(batch.body, accept: accept) },
            state: client.state)
        let run = PrefetchRun(server)
        let total = list.imageCount
        let start = ContinuousClock.now
        let failure = await output.showing {
            let counts = run.counts
            return WorkProgress(total: total, finished: counts.finished, failed: counts.failed)
        } untilStopped: { () async -> PrefetchRun.Failure? in
            do throws(PrefetchRun.Failure) {
                try await run.run(list) { report($0, output) }
                return nil
            } catch {
                return error
            }
        }
        if stop.isSet, let job = run.job { await client.cancel(job) }
        // What a server refuses as a whole has no counts.
        if json || failure == nil || run.counts.finished > 0 {
            summarize(run.counts, total: total, .now - start, stop.reason, output)
        }
        if let status = output.endIfStopped(leaving: total - run.counts.finished, "image") { return status }
        if let failure { output.printError(sentence(failure, client)) }
        return failure == nil && run.counts.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE
    }

    private func report(_ failure: PrefetchJobState.Failure, _ output: CommandOutput) {
        if json {
            let line = ["url": failure.url, "query": failure.query, "status": "failed", "error": failure.detail]
            return output.print(JSONLine.encoded(line))
        }
        let query = failure.query.isEmpty ? "" : " (\(failure.query))"
        output.printError("\(failure.url)\(query): \(failure.detail)")
    }

    private func summarize(
        _ counts: PrefetchRun.Counts, total: Int, _ duration: Duration, _ stop: StopReason?, _ output: CommandOutput
    ) {
        if json {
            let summary = Summary(
                total: total, cached: counts.done, failed: counts.failed, bytes: counts.bytes,
                seconds: DurationText.rounded(duration), stopped: stop?.sentence)
            return output.print(JSONLine.encoded(["summary": summary]))
        }
        let failed = counts.failed > 0 ? " \(counts.failed) failed." : ""
        output.print(
            """
            \(FileTally.counted(counts.done, "image")) cached on \(server) in \(DurationText.seconds(duration)) \
            (\(ByteText(counts.bytes))).\(failed)
            """)
    }

    private func sentence(_ failure: PrefetchRun.Failure, _ client: PrefetchClient) -> String {
        switch failure {
        case .server(let failure): failure.sentence(server, hasToken: client.token != nil)
        case .line(let line, let detail): "\(list):\(line): \(detail)"
        case .lost(let job, let reason):
            """
            \(server): \(reason) The job may go on; GET /prefetch/\(job.uuidString.lowercased()) reports its progress.
            """
        case .forgotten:
            """
            \(server): The server no longer knows the job; it was probably restarted. Run the command again: cached \
            images are found at once.
            """
        case .canceled: "\(server): The job was canceled by an administrator or because the server stops."
        }
    }

    private struct Summary: Encodable {
        let total: Int
        let cached: Int
        let failed: Int
        let bytes: Int
        let seconds: Double
        let stopped: String?
    }
}
