/// The limits on source and result. All are checked against the header before a pixel is decoded.
public struct PixelLimits: Hashable, Codable, Sendable {
    /// Pixels of one frame of the source; 60 million by default.
    public var maxSourcePixels: Int
    /// Pixels of all frames used, together; 120 million by default.
    public var maxAnimationPixels: Int
    /// Frames of an animation; by default, their number alone refuses nothing.
    public var maxFrames: Int
    /// Pixels of the result's longer side; 8192 by default.
    public var maxOutputSide: Int
    /// Pixels of the result; 50 million by default.
    public var maxOutputPixels: Int
    /// The expected processor time of the work on one image in milliseconds (``ImagePlan/expectedWork``); 4,000 by
    /// default.
    public var maxProcessingMilliseconds: Int

    /// More frames than the other limits allow.
    public static let unlimitedFrames = 100_000

    /// Limits with these defaults.
    public init(
        maxSourcePixels: Int = 60_000_000, maxAnimationPixels: Int = 120_000_000,
        maxFrames: Int = PixelLimits.unlimitedFrames,
        maxOutputSide: Int = 8192, maxOutputPixels: Int = 50_000_000, maxProcessingMilliseconds: Int = 4000
    ) {
        self.maxSourcePixels = maxSourcePixels
        self.maxAnimationPixels = maxAnimationPixels
        self.maxFrames = maxFrames
        self.maxOutputSide = maxOutputSide
        self.maxOutputPixels = maxOutputPixels
        self.maxProcessingMilliseconds = maxProcessingMilliseconds
    }
}
