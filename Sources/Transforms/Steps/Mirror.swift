import DarkroomRequests
import DarkroomVips

/// Mirrors the image top to bottom (libvips `flip`).
public struct Flip: Transform, Hashable {
    public init() {}

    public var key: String { "flip" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try Mirror.flip.apply(image)
    }
}

/// Mirrors the image left to right (libvips `flip`).
public struct Flop: Transform, Hashable {
    public init() {}

    public var key: String { "flop" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try Mirror.flop.apply(image)
    }
}

/// The three reflections that all eight EXIF orientations are made of. Each also moves the image's extent.
enum Mirror: Hashable {
    case flop
    case flip
    case transpose

    /// The reflections, in order, that make an image of this EXIF orientation upright (EXIF 2.32, tag 274).
    static func uprighting(_ orientation: Int) -> [Mirror] {
        switch orientation {
        case 2: [.flop]
        case 3: [.flop, .flip]
        case 4: [.flip]
        case 5: [.transpose]
        case 6: [.transpose, .flop]
        case 7: [.transpose, .flop, .flip]
        case 8: [.transpose, .flip]
        default: []
        }
    }

    func apply(_ image: ImageFrames) throws(VipsError) -> ImageFrames {
        var mirrored = try image.mapFrames { frame throws(VipsError) in
            switch self {
            case .flop: try frame.applying("flip", ["direction": "horizontal"])
            case .flip: try frame.applying("flip", ["direction": "vertical"])
            case .transpose:
                try frame.applying("rot", ["angle": "d90"]).applying("flip", ["direction": "horizontal"])
            }
        }
        let old = image.extent
        mirrored.extent = old
        switch self {
        case .flop: mirrored.extent.x = Double(image.size.width) - old.x - old.width
        case .flip: mirrored.extent.y = Double(image.size.height) - old.y - old.height
        case .transpose: mirrored.extent = Extent(x: old.y, y: old.x, width: old.height, height: old.width)
        }
        return mirrored
    }
}
