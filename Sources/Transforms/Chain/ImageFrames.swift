public import DarkroomRequests
public import DarkroomVips

/// The decoded image in the chain: one frame, or the frames of an animation, all of one size.
public struct ImageFrames: Sendable {
    /// The pixels of a decoder.
    struct Decoded: Sendable {
        /// All frames, in memory.
        let image: VipsImage
        /// The factor by which a JPEG is shrunk: 1, 2, 4 or 8.
        let shrink: Int
    }

    /// At least one frame; every frame has the same size.
    public private(set) var frames: [VipsImage]
    /// The position of the whole image on the raster of each frame.
    public internal(set) var extent: Extent
    /// What the decoder delivered; nil once the image is resampled.
    var decoded: Decoded?
    /// EXIF orientation 1…8 as the source states it; 1 once the image is upright.
    public internal(set) var orientation: Int
    /// The duration of each frame in milliseconds; empty for a still image.
    public let delays: [Int]
    /// How many times an animation plays; 0 = indefinitely.
    public let loop: Int
    /// Whether a chain has returned the frames as the decoder delivered them. Known only if the job requires it.
    var isUnchanged = false
    /// Whether parts of the source could not be decoded.
    var isDamaged = false
    /// Whether the decoder delivered gray samples.
    var isFromGray = false
    /// Whether the samples are Display P3 instead of sRGB.
    var isP3 = false
    /// The faces that were found for the result; nil = none were looked for.
    var faces: [Face]?
    /// The gain map for a result in JPEG; nil = none.
    var gainMap: EncodedGainMap?

    /// - Parameter frames: at least one; an empty list is a programming error.
    init(
        frames: [VipsImage], extent: Extent? = nil, decoded: Decoded? = nil, orientation: Int = 1, delays: [Int] = [],
        loop: Int = 0
    ) {
        precondition(!frames.isEmpty, "an image has at least one frame")
        self.frames = frames
        self.extent = extent ?? Extent(frames[0].size)
        self.decoded = decoded
        self.orientation = orientation
        self.delays = delays
        self.loop = loop
    }

    /// The most frames whose pixels are computed only when the result is encoded. Each operation keeps code and buffers
    /// until then, and libvips searches them for each new operation.
    static let maxLazyFrames = 64

    /// The first frame.
    public var first: VipsImage { frames[0] }
    /// The size of every frame's raster.
    public var size: PixelSize { first.size }
    /// Whether the image has more than one frame.
    public var isAnimated: Bool { frames.count > 1 }

    /// Whether both have the very same images as frames, so that no operation has touched a pixel.
    func isIdentical(to other: ImageFrames) -> Bool {
        frames.count == other.frames.count && zip(frames, other.frames).allSatisfy { $0 === $1 }
    }

    /// The image with every frame changed by `change`. If that changes the size, the extent becomes the new raster.
    public func mapFrames(_ change: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> ImageFrames {
        var changed = self
        changed.frames = []
        changed.frames.reserveCapacity(frames.count)
        let isLazy = frames.count <= Self.maxLazyFrames
        for frame in frames {
            let next = try change(frame)
            try changed.frames.append(isLazy || next === frame ? next : next.rendered())
        }
        if changed.size != size { changed.extent = Extent(changed.size) }
        return changed
    }

    /// The image with the color bands of every frame changed, as 8-bit samples.
    func changingColor(_ change: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> ImageFrames {
        try mapFrames { frame throws(VipsError) in try frame.changingColor(change) }
    }

    /// A rectangle of each frame, which must lie within it.
    func extracting(_ rectangle: (x: Int, y: Int, size: PixelSize)) throws(VipsError) -> ImageFrames {
        guard rectangle.size != size else { return self }
        return try mapFrames { frame throws(VipsError) in
            try frame.extracting(x: rectangle.x, y: rectangle.y, size: rectangle.size)
        }
    }

    /// The image resampled from its extent to a raster of this size.
    func resampled(
        to target: PixelSize, averaging: SampleAveraging = .encoded
    ) throws(VipsError) -> ImageFrames {
        guard target != size || extent != Extent(size) else { return self }
        let averaging = try fittingAveraging(averaging)
        var resampled = try mapFrames { frame throws(VipsError) in
            try frame.resampled(from: extent, to: target, averaging: averaging, shrunkBy: decoded?.shrink ?? 1)
        }
        (resampled.extent, resampled.decoded) = (Extent(target), nil)
        return resampled
    }

    private func fittingAveraging(_ averaging: SampleAveraging) throws(VipsError) -> SampleAveraging {
        guard averaging == .lightIfFast, let decoded, try TextPage.isFound(in: decoded.image) else { return averaging }
        return .encoded
    }
}
