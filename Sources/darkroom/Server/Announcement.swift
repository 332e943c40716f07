import Foundation

/// What a person reads when the server is up: where it listens, and a command to try.
struct Announcement {
    let settings: Settings
    let port: Int

    func print() {
        let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        let base = "http://\(host):\(port)"
        var text = "Darkroom listens on \(base)\n"
        if let sample {
            text += "Try:  curl -o picture.webp '\(base)/image?url=local:///\(sample)&w=400&output=webp'\n"
        }
        // Not through a buffer: whoever waits for this line reads a pipe.
        FileHandle.standardOutput.write(Data(text.utf8))
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
