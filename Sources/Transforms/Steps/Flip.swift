/// Mirrors top to bottom.
public struct Flip: Transform, Hashable {
    /// It has no parameters.
    public init() {}

    public var key: String { "flip" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try Mirror.flip.apply(picture)
    }
}
