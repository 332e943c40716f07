import DarkroomVips

/// Turns every colour around the colour circle.
public struct Hue: Transform, Hashable, Codable {
    /// 0 changes nothing; red goes towards yellow.
    public static let degrees = 0...359

    /// 0…359.
    public var degrees: Int

    /// Turns by so many degrees.
    public init(degrees: Int) {
        self.degrees = degrees
    }

    public var key: String { "hue(\(degrees))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try picture.mapFrames { frame throws(VipsError) in
            try frame.modulating(chroma: 1, hueDegrees: Double(degrees))
        }
    }
}
