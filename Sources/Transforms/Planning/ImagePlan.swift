/// What a job comes to, told from the source's header alone: no pixel is decoded for it.
public struct ImagePlan: Hashable, Codable, Sendable {
    /// A step of the chain and what it gives.
    public struct Step: Hashable, Codable, Sendable {
        /// `decode`, or what the transform's key begins with: `orient`, `resize`, …
        public var name: String
        /// The raster of one frame after it.
        public var size: PixelSize

        public init(name: String, size: PixelSize) {
            self.name = name
            self.size = size
        }
    }

    public var sourceFormat: SourceFormat
    /// One frame as stored, before orientation.
    public var sourceSize: PixelSize
    /// Frames or pages in the file.
    public var sourceFrames: Int
    /// Bytes of the file.
    public var sourceBytes: Int
    /// Frames or pages that are decoded.
    public var framesUsed: Int
    /// How many times smaller than its source, on each side, the picture leaves the decoder; under 1 where a vector picture is
    /// drawn larger.
    public var shrinkOnLoad: Double
    /// From the decoder to the last transform; empty where nothing is decoded.
    public var steps: [Step]
    /// The format that the result is encoded in.
    public var format: OutputFormat
    /// That of the result; of a text, of the picture that it is told from.
    public var size: PixelSize
    /// Frames in the result.
    public var frames: Int
    /// Whether all sizes are exact: a step that learns its size from pixels, as `trim` does, leaves only what it may be at most.
    public var isExact: Bool
    /// The largest raster on the way, one frame.
    public var largest: PixelSize
    /// Bytes that the job is expected to take at its peak: the source, its pixels, the result's, and what decoder, chain and encoder
    /// hold beside them. The truth of large pictures is seldom above 1.25 times that.
    public var estimatedMemoryBytes: Int
    /// Time that the job is expected to take in comparison with others: in about the milliseconds that one core of a server of 2020
    /// needs. What is kept of an earlier decode is not thought of.
    public var expectedWork = 0.0

    public init(
        sourceFormat: SourceFormat, sourceSize: PixelSize, sourceFrames: Int, sourceBytes: Int, framesUsed: Int,
        shrinkOnLoad: Double, steps: [Step], format: OutputFormat, size: PixelSize, frames: Int, isExact: Bool,
        largest: PixelSize, estimatedMemoryBytes: Int
    ) {
        self.sourceFormat = sourceFormat
        self.sourceSize = sourceSize
        self.sourceFrames = sourceFrames
        self.sourceBytes = sourceBytes
        self.framesUsed = framesUsed
        self.shrinkOnLoad = shrinkOnLoad
        self.steps = steps
        self.format = format
        self.size = size
        self.frames = frames
        self.isExact = isExact
        self.largest = largest
        self.estimatedMemoryBytes = estimatedMemoryBytes
    }
}

/// How much of a limit something takes.
public struct LimitUsage: Hashable, Sendable {
    /// The limit's setting on the command line.
    public var setting: String
    public var value: Int
    public var limit: Int

    public init(setting: String, value: Int, limit: Int) {
        self.setting = setting
        self.value = value
        self.limit = limit
    }

    /// The part of the limit, 1 = all of it. More than that where a decoder brings a source down to the limit.
    public var share: Double { Double(value) / Double(max(limit, 1)) }
}

extension ImagePlan {
    /// What it takes of the limits that play a part.
    public func uses(of limits: PixelLimits) -> [LimitUsage] {
        guard !steps.isEmpty else { return [] }
        var uses = [LimitUsage(setting: "max-source-pixels", value: sourceSize.area, limit: limits.maxSourcePixels)]
        if framesUsed > 1 {
            let (pixels, isOverflow) = sourceSize.area.multipliedReportingOverflow(by: framesUsed)
            uses.append(
                LimitUsage(
                    setting: "max-animation-pixels", value: isOverflow ? .max : pixels, limit: limits.maxAnimationPixels
                ))
            uses.append(LimitUsage(setting: "max-frames", value: framesUsed, limit: limits.maxFrames))
        }
        uses.append(
            LimitUsage(
                setting: "max-output-side", value: max(size.width, size.height), limit: limits.maxOutputSide))
        uses.append(
            LimitUsage(
                setting: "max-output-pixels", value: max(size.area, largest.area), limit: limits.maxOutputPixels))
        return uses
    }
}
