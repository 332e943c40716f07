import DarkroomVips

/// The libvips of this machine and the formats that it supports.
public struct InstalledCodecs: Sendable {
    /// The version of libvips, `major.minor.patch`.
    public let libvips: String
    /// The loaded codec libraries, as `name version`.
    public let codecs: [String]
    /// The formats that it can decode.
    public let readable: [SourceFormat]
    /// The image formats that it can encode.
    public let writable: [OutputFormat]

    /// The version of libvips, `major.minor.patch`. Does not start it.
    public static var libvipsVersion: String { VipsRuntime.version }

    /// Queries libvips, and starts it if necessary.
    public init() {
        libvips = Self.libvipsVersion
        codecs = VipsRuntime.codecs.map(\.description)
        readable = SourceFormat.allCases.filter { $0.loader.map(VipsRuntime.canLoad) ?? true }
        writable = OutputFormat.allCases.filter { !$0.isText && $0.isAvailable }
    }
}
