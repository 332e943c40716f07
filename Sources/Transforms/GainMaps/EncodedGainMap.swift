import DarkroomRequests
import DarkroomVips
import NIOCore

/// A gain map that has taken the steps of its image, as a file of its own.
struct EncodedGainMap: Sendable {
    let file: ByteBuffer
    /// Whether it is kept however many bytes it takes.
    private let isRequired: Bool

    /// - Parameters:
    ///   - steps: See ``TransformChain/forGainMap``.
    ///   - image: the header of the image.
    ///   - result: the size of the result.
    init?(
        of map: GainMapSource, by steps: TransformChain, for image: SourceHeader, result: PixelSize, isRequired: Bool,
        interrupt: @escaping Interrupt
    ) throws {
        guard var samples = try map.samples(interrupt: interrupt) else { return nil }
        let share = min(Double(samples.width) / Double(image.size.width), 1)
        let plan = try steps.plan(image.plan)
        // Steps before the image is scaled count in its pixels. Any other raster may be a reduced one.
        if plan.decode == .everyPixel || samples.size.exceeds(image.size) {
            samples = try samples.resampled(to: image.size)
        }
        let frames = ImageFrames(frames: [samples], orientation: image.orientation)
        let moved = try steps.apply(to: frames, start: image.plan, interrupt: interrupt)
        guard moved.size == result || plan.decode == .undecided else { return nil }
        let pixels = try moved.resampled(to: result.scaled(by: share)).first
        let bare = try VipsSaver.jpeg.encode(
            pixels.rendered(interrupt: interrupt), ["Q": .int(Self.quality), "optimize_coding": true, "strip": true],
            interrupt: interrupt)
        guard
            let described = JPEGContainer.adding(xmp: map.metadata.packet, to: bare),
            let file = JPEGContainer.adding(
                JPEGContainer.Marker.profile, GainMapMetadata.isoName, map.metadata.isoFields, to: described)
        else { return nil }
        (self.file, self.isRequired) = (file, isRequired)
    }

    /// The quality of the map. A map is smooth: errors that are invisible in it are in the image too.
    static let quality = 85
    /// The most bytes of a map that is not required, as a share of the bytes of its image.
    static let mostShare = 1.0 / 3

    /// An image's file with this map (Ultra HDR 1.1, and ISO 21496-1); nil if the map takes too many bytes.
    ///
    /// - Parameters:
    ///   - image: a file without XMP.
    ///   - texts: what else its XMP has to say.
    func adding(to image: ByteBuffer, _ texts: [XMPProperty: String]) -> ByteBuffer? {
        guard isRequired || Double(file.readableBytes) <= Double(image.readableBytes) * Self.mostShare else {
            return nil
        }
        let packet = XMPPacket.make(texts, and: GainMapMetadata.directory(mapBytes: file.readableBytes))
        guard let described = JPEGContainer.adding(xmp: packet, to: image),
            let versioned = JPEGContainer.adding(
                JPEGContainer.Marker.profile, GainMapMetadata.isoName, GainMapMetadata.isoVersion, to: described)
        else { return nil }
        return MultiPictureIndex.joining(versioned, file)
    }
}

extension PreparedJob {
    /// What becomes of the gain map in a format; nil = there is none.
    func outcomeOfGainMap(as format: OutputFormat) -> GainMapOutcome? {
        guard gainMap != nil else { return nil }
        if job.output.hdr == .drop { return .droppedByPolicy }
        if format != .jpeg { return .droppedByFormat }
        return job.chain.forGainMap == nil ? .droppedBySteps : .kept
    }

    /// The cost of ``EncodedGainMap``: bytes held, and milliseconds.
    ///
    /// - Parameter last: the plan of the image after the chain.
    func costOfGainMap(as format: OutputFormat, _ last: ChainPlan) -> (bytes: Int, work: Double) {
        guard let gainMap, outcomeOfGainMap(as: format) == .kept else { return (0, 0) }
        let (decoded, file) = (Double(gainMap.header.size.area), Double(gainMap.file.readableBytes))
        let isResampled = last.decode == .everyPixel || gainMap.header.size.exceeds(header.size)
        let moved = (isResampled ? Double(header.size.area) : 0) + Double(last.size.area)
        let bytes = 3 * (decoded + moved) + (gainMap.header.needsWholeSource ? 3 * decoded : 0) + 2 * file
        // Twice as of a progressive source, because the end of its data is examined.
        let pixel = 40 + 0.34 * Double(max(gainMap.header.scans - 10, 0))
        return (Int(min(bytes, 1e15)), (decoded * pixel + file * 37 + moved * 15) / 1e6)
    }
}

extension PlannedJob {
    /// The gain map of a result; nil if it has none, and if the map of the source is corrupt.
    func gainMap(
        for image: ImageFrames, as format: OutputFormat, interrupt: @escaping Interrupt
    ) -> EncodedGainMap? {
        guard let map = prepared.gainMap, prepared.outcomeOfGainMap(as: format) == .kept, !image.isDamaged,
            let steps = prepared.job.chain.forGainMap
        else { return nil }
        return try? EncodedGainMap(
            of: map, by: steps, for: prepared.header, result: image.size,
            isRequired: prepared.job.output.hdr == .keep, interrupt: interrupt)
    }
}

extension PixelSize {
    fileprivate func exceeds(_ other: PixelSize) -> Bool { width > other.width || height > other.height }
}

/// What becomes of a source's gain map.
public enum GainMapOutcome: String, Codable, Sendable, CaseIterable {
    /// It is kept. Without ``HDRPolicy/keep``, a map of more than a third of the bytes of the image is left out.
    case kept
    /// The request or the setting says so.
    case droppedByPolicy = "dropped-by-hdr"
    /// The format of the result is not JPEG.
    case droppedByFormat = "dropped-by-format"
    /// A step draws, changes colors or depends on pixels.
    case droppedBySteps = "dropped-by-steps"
    /// Its data end early, or are corrupt in another way.
    case droppedAsCorrupt = "dropped-as-corrupt"
}

extension TransformChain {
    /// The steps that a gain map takes with its image; nil unless all move pixels to places that the header decides.
    var forGainMap: TransformChain? {
        var steps: [any Transform] = []
        for step in transforms {
            switch step {
            // They leave an opaque image without a source type as it is.
            case is SourceDigest, is ColorConversion, is Flatten, is AILabel: continue
            case var resize as Resize:
                // Samples of a map are no colors.
                resize.resampling = .fast
                steps.append(resize)
            case var resize as LayoutResize:
                resize.resampling = .fast
                steps.append(resize)
            case let canvas as LayoutCanvas where canvas.onlyCrops && !canvas.dependsOnPixels: steps.append(step)
            case _ where step.onlyMovesPixels: steps.append(step)
            default: return nil
            }
        }
        return TransformChain(steps)
    }
}
