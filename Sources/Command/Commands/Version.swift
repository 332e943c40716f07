import ArgumentParser
import DarkroomTransforms

/// `darkroom version`
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the versions of Darkroom, libvips and the codecs, and the formats they read and write.")

    func run() {
        let report = InstalledCodecs()
        print("darkroom \(Darkroom.release)")
        print("libvips \(report.libvips)")
        for codec in report.codecs { print(codec) }
        print("reads \(report.readable.map(\.rawValue).joined(separator: ", "))")
        print("writes \(report.writable.map(\.rawValue).joined(separator: ", "))")
    }
}
