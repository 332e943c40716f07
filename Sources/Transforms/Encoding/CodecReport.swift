import DarkroomVips

/// What this machine's libvips is and can do.
public struct InstalledCodecs: Sendable {
    /// libvips' version.
    public let libvips: String
    /// The codec libraries it has loaded, as `name version`.
    public let codecs: [String]
    /// Formats it decodes.
    public let readable: [SourceFormat]
    /// Formats that it encodes pictures in.
    public let writable: [OutputFormat]

    /// Asks libvips, which is started if need be.
    public init() {
        libvips = VipsRuntime.version
        codecs = VipsRuntime.codecs.map(\.description)
        readable = SourceFormat.allCases.filter { VipsRuntime.canLoad($0.loader) }
        writable = OutputFormat.allCases.filter { !$0.isText && $0.isAvailable }
    }
}
