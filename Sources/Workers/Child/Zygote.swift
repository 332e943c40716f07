import DarkroomCSandbox
import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore

/// The process that workers are forked from: it has loaded every library, and workers share its memory until they write
/// to it. It never sees an image.
package enum Zygote {
    /// Runs the hidden subcommand: forks a worker at each request on descriptor 3, until the server closes it.
    ///
    /// Call this before the process starts another thread: a forked process has one thread only, and a library that had
    /// more threads would wait for them forever. For the same reason, code here must not compute pixels: libvips
    /// computes on threads that it keeps.
    package static func run() -> Never {
        let socket = MessageSocket(descriptor: 3)
        do throws(WireError) {
            let setup = try socket.receive(WorkerSetup.self).message
            guard darkroom_bind_to_parent(pid_t(truncatingIfNeeded: setup.parent), "darkroom-zygote") != -ESRCH else {
                exit(EXIT_FAILURE)
            }
            WarmUp.run()
            ProcessMemory.releaseCode()
            let ruleset = setup.isIsolated ? Sandbox.ruleset() : -1
            try socket.send(WorkerFork())
            // The first worker must not wait for the detector, so it makes its own, if it is asked for faces.
            try fork(for: socket, setup, ruleset)
            if setup.findsFaces { FaceDetector.prepare() }
            while true { try fork(for: socket, setup, ruleset) }
        } catch {
            // The server has exited, or the peer does not speak the protocol.
            exit(EXIT_FAILURE)
        }
    }

    /// Forks one worker. Returns in this process only.
    private static func fork(
        for socket: MessageSocket, _ setup: WorkerSetup, _ ruleset: Int32
    ) throws(WireError) {
        let theirs = try socket.receiveAttached(WorkerFork.self).attached
        guard theirs >= 0 else { throw .malformed }
        let process = darkroom_fork(theirs, ruleset, Worker.processName)
        if process == 0 { Worker.run(setup) }
        close(theirs)
        try socket.send(WorkerFork(process: Int(process), threads: process == -EBUSY ? otherThreads : []))
        // A fresh zygote has one thread again.
        if process == -EBUSY { exit(EXIT_FAILURE) }
    }

    /// The names of all threads but the first.
    private static var otherThreads: [String] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let names = threads.filter { $0 != "\(getpid())" }.compactMap { thread in
            try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
        }
        return names.prefix(WorkerFork.maxThreads).map { $0.filter { !$0.isNewline } }.sorted()
    }
}

/// Loads and initializes what every worker needs, before workers are forked.
enum WarmUp {
    /// Computes no pixels: see ``Zygote/run()``. Lays out no text either: since version 1.51.2, Pango starts a thread
    /// with its first font map that never ends. A worker that inherited the font map without the thread would wait for
    /// it forever.
    static func run() {
        try? planDrawing()
        Text.loadFontSettings()
    }

    /// Plans a job and encodes and decodes its messages. The header of a drawing starts libvips and loads the libraries
    /// of its codecs. The first message of a type takes long, because the Swift runtime looks up the type's
    /// conformances.
    static func planDrawing() throws {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0H8V8z"/></svg>
                """)
        try exchanged(WorkerRequest.attempt(JobAllowance(memoryBytes: 0, work: 0)))
        var recipe = Recipe()
        recipe.box = Box(width: 4, height: 4)
        var job = try exchanged(
            ImageJob(source: drawing, identity: "", chain: TransformChain(recipe), output: OutputOptions(format: .jpeg))
        )
        job.source = drawing
        let plan = try PreparedJob(job).plan()
        let image = ProcessedImage(
            body: ByteBuffer(), format: plan.format, size: plan.size, frames: plan.frames,
            sourceFormat: plan.sourceFormat, stages: ProcessingStages(decode: .zero, transform: .zero))
        try exchanged(WorkerReply(outcome: .image(image, plan), decoded: DecodedStatistics()))
        try exchanged(WorkerHello(layers: IsolationLayer.allCases))
    }

    @discardableResult
    private static func exchanged<Message: Codable>(_ message: Message) throws -> Message {
        var bytes = try WireEncoder.bytes(of: message)
        return try WireDecoder.read(Message.self, from: &bytes)
    }
}
