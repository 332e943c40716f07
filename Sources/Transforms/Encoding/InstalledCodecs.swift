public import DarkroomRequests
import DarkroomVips
import Foundation

/// The libvips of this machine and the formats that it supports.
public struct InstalledCodecs: Sendable {
    /// The version of libvips, `major.minor.patch`.
    public let libvips: String
    /// How libvips computes several pixels at once: `Orc`, or such as `Highway (AVX2)`.
    public let vectorUnit: String
    /// The loaded codec libraries, as `name version`.
    public let codecs: [String]
    /// The formats that it can decode.
    public let readable: [SourceFormat]
    /// The image formats that it can encode.
    public let writable: [OutputFormat]
    /// The formats that it could decode or encode with another package.
    public let missing: [MissingCodec]

    /// The version of libvips, `major.minor.patch`. Does not start it.
    public static var libvipsVersion: String { VipsRuntime.version }

    /// The codecs of this process. Reading it starts libvips if necessary, because codecs are loaded then.
    public static let current = InstalledCodecs()

    init(
        libvips: String = VipsRuntime.version, vectorUnit: String = VipsRuntime.vectorDescription,
        codecs: [String] = VipsRuntime.codecs, readable: [SourceFormat] = SourceFormat.allCases.filter(canRead),
        writable: [OutputFormat] = OutputFormat.images.filter(canWrite)
    ) {
        (self.libvips, self.vectorUnit, self.codecs) = (libvips, vectorUnit, codecs)
        (self.readable, self.writable) = (readable, writable)
        missing =
            SourceFormat.allCases.filter { !readable.contains($0) }.map(MissingCodec.decoder)
            + OutputFormat.images.filter { !writable.contains($0) }.map(MissingCodec.encoder)
    }

    /// The families of fonts in which texts can be drawn, sorted. Listing them may start a thread that does not end.
    public static var fontFamilies: [String] { VipsText.fontFamilies }

    /// The reason why a server cannot run with this libvips, as a sentence that names the package to install; nil if it
    /// can.
    public var fault: String? {
        let oldest = "8.14"
        guard libvips.compare(oldest, options: .numeric) != .orderedAscending else {
            return "libvips \(libvips) is too old; install libvips \(oldest) or later (the package libvips42)."
        }
        let names = missing.filter(\.isEssential).map(\.description)
        guard !names.isEmpty else { return nil }
        return
            "libvips \(libvips) has no \(names.joined(separator: ", ")); install the distribution's package libvips42 "
            + "again, with the packages that it depends on."
    }

    private static func canRead(_ format: SourceFormat) -> Bool {
        guard let loader = format.row.loader else { return true }
        return VipsRuntime.canLoad(loader) && format.row.codec?.canDecode ?? true
    }

    private static func canWrite(_ format: OutputFormat) -> Bool {
        guard let saver = format.row.saver else { return true }
        return VipsRuntime.canSave(saver) && format.row.codec?.canEncode ?? true
    }

    /// The formats in which it can encode animations.
    public var animated: [OutputFormat] { writable.filter { $0.supportsAnimation && $0.writesFrames } }

    /// The image formats that this machine could encode with another package.
    public var unwritable: Set<OutputFormat> { Set(OutputFormat.images).subtracting(writable) }
}

/// A codec that this machine lacks.
public enum MissingCodec: Hashable, Sendable, CustomStringConvertible {
    case decoder(SourceFormat)
    case encoder(OutputFormat)

    /// Whether every complete build of libvips has it.
    fileprivate var isEssential: Bool {
        switch self {
        case .decoder(let format): format.row.isEssential
        case .encoder(let format): format.traits.isEssential
        }
    }

    /// The packages that the operator of the machine can install, as the object of a sentence. The names are packages
    /// of Debian and Ubuntu, which split the codecs from libheif.
    public var remedy: String {
        switch self {
        case .decoder(let format):
            format.row.debianPackage.map { "the package \($0)" } ?? "a libvips that reads \(format.name)"
        case .encoder(let format): format.encoderRemedy
        }
    }

    /// Why something fails without it, and what helps, as a clause for clients.
    public var reason: String {
        switch self {
        case .decoder(let format):
            "it is \(format.name), for which this server has no decoder; its operator can install \(remedy)"
        case .encoder(let format): format.reasonWithoutEncoder
        }
    }

    /// Such as `avif encoder`.
    public var description: String {
        switch self {
        case .decoder(let format): "\(format.rawValue) decoder"
        case .encoder(let format): "\(format.rawValue) encoder"
        }
    }
}
