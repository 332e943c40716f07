public import DarkroomRequests
import DarkroomVips

extension Filter: ColorTransform {
    public var key: String { "filt(\(rawValue))" }

    public var cost: TransformCost {
        switch self {
        case .greyscale, .bitonal: .pixelwise(20, withAlpha: 35)
        case .sepia: .pixelwise(40, withAlpha: 55)
        case .negate: .pixelwise(3, withAlpha: 20)
        }
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try image.changingColor { color throws(VipsError) in
            switch self {
            case .greyscale: try color.grayscale(through: VipsImage.grays)
            case .sepia: try color.applying("recomb", ["m": .image(Self.sepiaMatrix)])
            case .negate: try color.applying("invert")
            case .bitonal: try color.grayscale(through: Self.blackAndWhite)
            }
        }
    }

    private static let blackAndWhite = VipsImage.grayscale((0...255).map { $0 < 128 ? 0 : 255 })

    /// Rec. 601 luminance in a warm brown, as weights of red, green and blue.
    private static let sepiaMatrix = VipsImage.matrix([
        [0.3588, 0.7044, 0.1368], [0.2990, 0.5870, 0.1140], [0.2392, 0.4696, 0.0912],
    ])
}
