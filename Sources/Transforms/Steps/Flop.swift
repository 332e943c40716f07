/// Mirrors left to right.
public struct Flop: Transform, Hashable {
    /// It has no parameters.
    public init() {}

    public var key: String { "flop" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ picture: ImageFrames, context: TransformContext) throws -> ImageFrames {
        try Mirror.flop.apply(picture)
    }
}
