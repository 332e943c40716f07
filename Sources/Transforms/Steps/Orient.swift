import DarkroomVips

/// Turns the picture upright: by the EXIF orientation it states, or by one that the request states instead.
public struct Orient: Transform, Hashable {
    /// Which way up.
    public enum Rule: Hashable, Codable, Sendable {
        /// The source's own EXIF orientation.
        case auto
        /// The pixels as they are stored.
        case none
        /// One of the eight EXIF orientations, whatever the source says.
        case exif(Int)
    }

    /// Which way up.
    public var rule: Rule

    /// Turns by this rule.
    public init(_ rule: Rule) {
        self.rule = rule
    }

    public var key: String {
        switch rule {
        case .auto: "orient(auto)"
        case .none: "orient(none)"
        case .exif(let orientation): "orient(\(orientation))"
        }
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        steps(for: plan.sourceOrientation).contains(.transpose) ? plan.transposed() : plan
    }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames { try turned(picture) }

    func turned(_ picture: ImageFrames) throws(VipsError) -> ImageFrames {
        var upright = picture
        for step in steps(for: picture.orientation) { upright = try step.apply(upright) }
        upright.orientation = 1
        return upright
    }

    private func steps(for stated: Int) -> [Mirror] {
        switch rule {
        case .auto: Mirror.uprighting(stated)
        case .none: []
        case .exif(let orientation): Mirror.uprighting(orientation)
        }
    }
}

/// The three mirrors that all eight orientations are made of; each also moves the picture's extent on its raster.
enum Mirror: Hashable {
    case flop
    case flip
    case transpose

    /// What brings a picture stored under that EXIF orientation upright, in order (EXIF 2.32, tag 274).
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

    func apply(_ picture: ImageFrames) throws(VipsError) -> ImageFrames {
        var mirrored = try picture.mapFrames { frame throws(VipsError) in
            switch self {
            case .flop: try frame.applying("flip", ["direction": "horizontal"])
            case .flip: try frame.applying("flip", ["direction": "vertical"])
            case .transpose:
                try frame.applying("rot", ["angle": "d90"]).applying("flip", ["direction": "horizontal"])
            }
        }
        switch self {
        case .flop: mirrored.extent = picture.extent.flopped(columns: picture.size.width)
        case .flip: mirrored.extent = picture.extent.flipped(rows: picture.size.height)
        case .transpose: mirrored.extent = picture.extent.transposed()
        }
        return mirrored
    }
}
