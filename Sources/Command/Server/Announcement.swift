import DarkroomWeb
import Foundation
import Synchronization

/// What a person reads when the server is up: where it listens, and a command to try.
final class Announcement: Sendable {
    private let settings: Settings
    private let ports = Mutex<[Listener: Int]>([:])

    init(_ settings: Settings) {
        self.settings = settings
    }

    /// Takes down that a door is open.
    /// - Returns: whether all are.
    func note(_ door: Listener, at port: Int) -> Bool {
        ports.withLock { ports in
            ports[door] = port
            return ports.count == (settings.adminPort == nil ? 1 : 2)
        }
    }

    func print() {
        let ports = ports.withLock(\.self)
        let base = Self.url(settings.host, ports[.main] ?? settings.port)
        var text = "Darkroom listens on \(base)\n"
        if let port = ports[.admin] { text += "Administration is at \(Self.url(settings.adminHost, port))\n" }
        if let sample {
            text += "Try:  curl -o picture.webp '\(base)/image?url=local:///\(sample)&w=400&output=webp'\n"
        }
        // Not through a buffer: whoever waits for this line reads a pipe.
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private static func url(_ host: String, _ port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// `sample.jpg` below the local root, or the first picture there whose name needs no encoding.
    private var sample: String? {
        guard let root = settings.localRoot,
            let names = try? FileManager.default.contentsOfDirectory(atPath: root).sorted()
        else { return nil }
        if names.contains("sample.jpg") { return "sample.jpg" }
        return names.first { name in
            name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
                && ["jpg", "jpeg", "png", "webp", "gif"].contains(URL(fileURLWithPath: name).pathExtension)
        }
    }
}
