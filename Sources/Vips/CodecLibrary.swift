import Foundation

/// A codec library that libvips has loaded into this process.
public struct CodecLibrary: Hashable, Sendable, CustomStringConvertible {
    /// `libjpeg`, `libwebp`, …
    public let name: String
    /// As its file states it: `62.3.0`. Empty where the platform does not tell.
    public let version: String

    public var description: String { version.isEmpty ? name : "\(name) \(version)" }
}

extension VipsRuntime {
    /// The codec libraries loaded now, by name. On platforms other than Linux the list is empty.
    public static var codecs: [CodecLibrary] {
        start()
        let known: Set<String> = [
            "libjpeg", "libpng16", "libspng", "libwebp", "libheif", "libaom", "libdav1d", "libde265", "libx265",
            "libSvtAv1Enc", "librav1e", "libjxl", "libtiff", "libcgif", "libimagequant", "librsvg-2", "liblcms2",
        ]
        let found = loadedLibraries().compactMap { path -> CodecLibrary? in
            let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().lastPathComponent
            guard let range = file.range(of: ".so"), known.contains(String(file[..<range.lowerBound])) else {
                return nil
            }
            let version = file[range.upperBound...].drop { $0 == "." }
            return CodecLibrary(name: String(file[..<range.lowerBound]), version: String(version))
        }
        return Set(found).sorted { $0.name < $1.name }
    }

    /// Paths of the shared objects mapped into this process, where the kernel lists them.
    private static func loadedLibraries() -> [String] {
        guard let maps = FileHandle(forReadingAtPath: "/proc/self/maps") else { return [] }
        return String(decoding: maps.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
    }
}
