import DarkroomVips

/// Lays the picture on a background colour. A translucent background leaves a translucent picture.
public struct Flatten: Transform, Hashable {
    /// What shows through.
    public var background: Color

    /// Lays the picture on this colour.
    public init(_ background: Color) {
        self.background = background
    }

    public var key: String { "flatten(\(background.hex))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.giving(alpha: plan.hasAlpha && background.alpha < 255)
    }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard picture.first.hasAlpha else { return picture }
        return try picture.mapFrames { frame throws(VipsError) in
            guard background.alpha < 255 else {
                return try frame.applying("flatten", ["background": .doubles(background.rgb)])
            }
            return try frame.laid(over: background)
        }
    }
}

extension VipsImage {
    /// Porter and Duff's "over" on a canvas of one colour.
    fileprivate func laid(over color: Color) throws(VipsError) -> VipsImage {
        let canvas = try applying("linear", ["a": .doubles([0, 0, 0, 0]), "b": .doubles(color.rgba)])
            .applying("cast", ["format": "uchar"])
        return try VipsImage.build(
            "composite", ["in": .images([canvas, self]), "mode": .ints([Self.over]), "compositing_space": "srgb"]
        ).applying("cast", ["format": "uchar"])
    }

    /// VIPS_BLEND_MODE_OVER.
    private static var over: Int { 2 }
}
