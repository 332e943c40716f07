import DarkroomVips

/// Gives every pixel the hue and chroma of one colour and leaves its lightness (CIELAB).
public struct Tint: Transform, Hashable, Codable {
    /// Whose hue and chroma every pixel gets.
    public var color: Color

    /// The colour's alpha has no meaning here.
    public init(_ color: Color) {
        self.color = Color(red: color.red, green: color.green, blue: color.blue)
    }

    public var key: String { "tint(\(color.hex))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let swatch = try VipsImage.fromBytes([color.red, color.green, color.blue], width: 1, height: 1, bands: 3)
            .applying("copy", ["interpretation": "srgb"]).applying("colourspace", ["space": "lab"])
            .pixel(x: 0, y: 0)
        return try picture.mapFrames { frame throws(VipsError) in
            try frame.changingColor { color throws(VipsError) in
                try color.applying("colourspace", ["space": "lab"]).band(0)
                    .applying("bandjoin_const", ["c": .doubles([swatch[1], swatch[2]])])
                    .applying("copy", ["interpretation": "lab"]).applying("colourspace", ["space": "srgb"])
            }
        }
    }
}
