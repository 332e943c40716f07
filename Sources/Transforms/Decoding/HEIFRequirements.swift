import DarkroomVips
import NIOCore

/// A part of the HEIF standard that older versions of libheif cannot read.
public enum HEIFFeature: String, Codable, Sendable, CaseIterable {
    case jpeg, jpeg2000, avc, deepMirror, minimizedDescription

    /// The first version of libheif that has it.
    var version: (major: Int, minor: Int) {
        switch self {
        case .jpeg, .jpeg2000: (1, 17)
        case .avc, .deepMirror: (1, 19)
        case .minimizedDescription: (1, 22)
        }
    }

    private var name: String {
        switch self {
        case .jpeg: "pixels in JPEG"
        case .jpeg2000: "pixels in JPEG 2000"
        case .avc: "pixels in H.264"
        case .deepMirror: "a mirrored image of more than 8 bits"
        case .minimizedDescription: "a minimized description of its image"
        }
    }

    /// Why a source with it cannot be read, and what helps, as a clause for clients.
    public var reason: String {
        let isCodec = self != .deepMirror && self != .minimizedDescription
        return "it has \(name), which this server's libheif cannot read; its operator can install libheif "
            + "\(version.major).\(version.minor) or later" + (isCodec ? ", with the plug-in for this codec" : "")
    }
}

/// What a HEIF or AVIF file needs of libheif.
enum HEIFRequirements {
    /// The file as libheif reads it, see ``HEIFContainer/rewritten()``. Throws `.outdatedDecoder` for a valid file that
    /// this version cannot read.
    static func readable(
        _ file: ByteBuffer, version: (major: Int, minor: Int)? = HEIFCodec.libraryVersion
    ) throws(ImageProcessingError) -> ByteBuffer {
        let container = HEIFContainer(of: file)
        if let version, let feature = container.map(needed) ?? neededWithoutItems(file), feature.version > version {
            throw .outdatedDecoder(feature)
        }
        return container?.rewritten() ?? file
    }

    private static func needed(_ container: HEIFContainer) -> HEIFFeature? {
        switch container.types[container.coded(container.primary)] {
        case "jpeg": return .jpeg
        case "j2k1": return .jpeg2000
        case "avc1": return .avc
        default: break
        }
        let properties = container.properties(of: container.primary)
        // Version and flags, the number of channels, and the bits of each (ISO/IEC 23008-12 §6.5.6).
        let isDeep = properties.contains { box in
            box.type == "pixi" && box.content.readableBytesView.dropFirst(5).prefix(255).contains { $0 > 8 }
        }
        return isDeep && properties.contains { $0.type == "imir" } ? .deepMirror : nil
    }

    private static func neededWithoutItems(_ file: ByteBuffer) -> HEIFFeature? {
        var rest = file
        for _ in 0..<HEIFContainer.maxEntries {
            guard let box = ISOBox(from: &rest) else { break }
            if box.type == "mini" { return .minimizedDescription }
        }
        return nil
    }
}
