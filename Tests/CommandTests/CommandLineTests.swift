import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Testing

@testable import DarkroomCommand

/// The built executable, from the command line.
@Suite(.timeLimit(.minutes(5)))
struct CommandLineTests {
    @Test func `The help of serve explains every setting with its default`() throws {
        let help = try DarkroomProcess.run(["serve", "--help"])
        #expect(help.status == 0)
        let text = help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for setting in SettingsTable.rows {
            #expect(text.contains("\(setting.flag) \(setting.placeholder)"), "\(setting.flag)")
            #expect(text.contains("\(setting.help) Default: \(setting.defaultText)."), "\(setting.flag)")
        }
    }

    @Test(arguments: [
        (["--max-source-bytes", "lots"], "--max-source-bytes"), (["--connect-timeout", "1h"], "connect-timeout"),
        (["--no-such-flag"], "--no-such-flag"), (["--config", "/no/such.yaml"], "--config"),
    ])
    func `A bad setting stops startup and is named`(flags: [String], name: String) throws {
        let run = try DarkroomProcess.run(["serve", "--port", "0"] + flags)
        #expect(run.status == (flags == ["--no-such-flag"] ? 64 : 78))
        #expect(run.errors.contains(name))
        #expect(!run.output.contains("listens"))
    }

    @Test func `A host without an address stops startup with a sentence`() throws {
        let flags = ["--host", "no-such-host.invalid", "--open-proxy", "true", "--cache-disk-bytes", "0"]
        let run = try DarkroomProcess.run(["serve", "--port", "0"] + flags)
        #expect(run.status != 0)
        #expect(run.errors.contains("'no-such-host.invalid' is not an address"), "\(run.errors)")
        #expect(!run.errors.contains("SocketAddressError"))
    }

    @Test func `An unknown variable stops startup and is named`() throws {
        let run = try DarkroomProcess.run(["serve", "--port", "0"], environment: ["DARKROOM_MAX_SOURCE_BYTE": "5"])
        #expect(run.status == 78)
        #expect(run.errors.contains("DARKROOM_MAX_SOURCE_BYTE"))
    }

    @Test func `The server prints its URL, and SIGTERM ends it with status 0`() async throws {
        let server = try await DarkroomProcess()
        #expect(try await Client.get(server.base + "/health/ready").status == 200)
        #expect(await server.stop() == 0)
    }

    @Test func `The server logs the limits of its process and what it makes of them`() async throws {
        let folder = try URL.temporaryFolder()
        let server = try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", folder.path, "--cache-memory-bytes", "3MiB"])
        #expect(await server.stop() == 0)
        let line = try #require(server.log.split(separator: "\n").first { $0.contains("limits of this process") })
        let defaults = ResourceDefaults.current
        for field in [
            "pixel-workers=\(defaults.pixelWorkers)", "cache-memory-bytes=3MiB", "cpu-quota=", "memory-budget=",
            "cache-decoded-bytes=", "usable-memory=", "cpu-cores=\(ResourceLimits.current.processorCount)",
        ] {
            #expect(line.contains(" \(field)"), "\(line)")
        }
    }

    @Test func `Numbers in events are numbers in JSON`() async throws {
        let folder = try URL.temporaryFolder()
        let server = try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", folder.path, "--log-format", "json"])
        #expect(await server.stop() == 0)
        for field in ["cpu-cores", "pixel-workers", "workers", "pid", "in-flight", "uptime-seconds"] {
            #expect(server.log.contains("\"\(field)\":") && !server.log.contains("\"\(field)\":\""), "\(field)")
        }
    }

    @Test func `A port in use is reported with its number`() async throws {
        let server = try await DarkroomProcess()
        let port = try #require(server.base.split(separator: ":").last.map(String.init))
        let second = try DarkroomProcess.run(
            ["serve", "--port", port, "--cache-dir", try URL.temporaryFolder().path, "--log-level", "critical"])
        #expect(second.status == 1)
        let sentence = "Error: Port \(port) on 127.0.0.1 is already in use. Choose another with --port.\n"
        #expect(second.errors == sentence)
    }

    @Test func `An address of another machine is reported`() throws {
        let run = try DarkroomProcess.run([
            "serve", "--host", "192.0.2.1", "--port", "0", "--open-proxy", "true", "--cache-dir",
            try URL.temporaryFolder().path, "--log-level", "critical",
        ])
        #expect(run.status == 1)
        let sentence = "Error: This machine does not have the address 192.0.2.1. Choose another with --host.\n"
        #expect(run.errors == sentence)
    }

    @Test(arguments: [
        ("transform", "Usage: darkroom transform IN OUT [--w 400]"), ("sign", "Usage: darkroom sign 'url=https"),
    ])
    func `A command without its arguments shows its own usage`(command: String, usage: String) throws {
        let run = try DarkroomProcess.run([command])
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains(usage), "\(run.errors)")
    }

    @Test func `Transform runs the same chain on a file`() throws {
        let folder = try URL.temporaryFolder()
        let output = folder.appendingPathComponent("out.webp")
        let run = try DarkroomProcess.run(
            [
                "transform", URL.fixtures.appendingPathComponent("sample.jpg").path, output.path, "--w", "120",
                "--flip", "--blur", "2",
            ])
        #expect(run.status == 0, "\(run.errors)")
        let header = try SourceHeader(of: ByteBuffer(bytes: try Data(contentsOf: output)))
        #expect(header.format == .webp)
        #expect(header.size.width == 120)
    }

    @Test func `Transform reports errors in the words of the server`() throws {
        let run = try DarkroomProcess.run(["transform", "in.jpg", "out.jpg", "--w", "0"])
        #expect(run.status == 64)
        #expect(run.errors.contains("'w'"))
        let missing = try DarkroomProcess.run(["transform", "/no/such/file.jpg", "/tmp/out.jpg"])
        #expect(missing.status == 1)
        #expect(missing.errors == "Error: /no/such/file.jpg cannot be read: No such file or directory.\n")
        let broken = try DarkroomProcess.run(["transform", "/dev/null", "/tmp/out.jpg"])
        #expect(broken.status == 1)
    }

    @Test func `Version prints libvips and the codecs`() throws {
        let run = try DarkroomProcess.run(["version"])
        #expect(run.status == 0)
        #expect(run.output.contains("libvips 8."))
        #expect(run.output.contains("writes jpg"))
        #expect(run.output.contains("animates webp, gif"))
    }

    @Test func `Every process produces the same bytes and reports the same codecs`() throws {
        let source = URL.fixtures.appendingPathComponent("sample.jpg").path
        let first = try DarkroomProcess.run(["transform", source, "-", "--w", "100", "--output", "jpg"])
        for _ in 0..<8 {
            let again = try DarkroomProcess.run(["transform", source, "-", "--w", "100", "--output", "jpg"])
            #expect(again.output == first.output)
        }
        let versions = try (0..<8).map { _ in try DarkroomProcess.run(["version"]).output }
        #expect(Set(versions).count == 1)
    }

    @Test(arguments: ["flags", "environment", "file"])
    func `The executable reads every setting from every source`(way: String) async throws {
        let folder = try URL.temporaryFolder()
        var values = SettingsTests.others
        values["cache-dir"] = folder.appendingPathComponent("cache").path
        values["local-root"] = URL.fixtures.path
        values["host"] = "127.0.0.1"
        values["admin-host"] = "127.0.0.1"
        values["max-source-pixels"] = "60000000"
        // It would take the place of the port, at which this test asks; UnixSocketTests read it.
        values["unix-socket"] = nil
        // It needs credentials and a store; SharedStoreTests read it.
        values["shared-store"] = nil
        let bearer = [("Authorization", "Bearer \(values["admin-token"] ?? "")")]
        let server: DarkroomProcess
        switch way {
        case "flags":
            server = try await DarkroomProcess(serving: values.flatMap { ["--\($0)", $1] })
        case "environment":
            let variables = Dictionary(uniqueKeysWithValues: values.map { (variable($0), $1) })
            server = try await DarkroomProcess(serving: [], environment: variables)
        default:
            let file = folder.appendingPathComponent("darkroom.yaml")
            try values.map { "\($0): \"\($1)\"" }.joined(separator: "\n").write(
                to: file, atomically: true, encoding: .utf8)
            server = try await DarkroomProcess(serving: ["--config", file.path])
        }
        // max-output-side is 400, local-root, signing-keys and public-url are set: all were heard.
        #expect(try await server.image("local:///sample.jpg", "w=401", fields: bearer).problem?.parameter == "w")
        #expect(try await server.image("local:///sample.jpg", "w=90", fields: bearer).status == 200)
        let type = "https://img.example.com/problems/signature-required"
        #expect(try await server.image("local:///sample.jpg", "w=90").problem?.type == type)
        #expect(await server.stop() == 0)
    }
}
