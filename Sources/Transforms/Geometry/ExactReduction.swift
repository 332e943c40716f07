import DarkroomRequests

/// The position of the whole image on its raster, in raster pixels.
///
/// A decoder that shrinks by `s` delivers `floor(w / s)` columns, although the image is `w / s` columns wide: the
/// raster lacks a fraction of a pixel at its far edges. Stretching it to the target would move every detail; with the
/// extent, the resampler puts each output pixel exactly where it belongs.
public struct Extent: Hashable, Sendable {
    /// The image's left edge; 0 unless a reflection moved the missing fraction to this side.
    public var x = 0.0
    /// The image's upper edge.
    public var y = 0.0
    /// The image's width in raster pixels, including fractions.
    public var width: Double
    /// The image's height in raster pixels, including fractions.
    public var height: Double
}

extension Extent {
    /// The whole raster.
    init(_ size: PixelSize) {
        self.init(width: Double(size.width), height: Double(size.height))
    }
}

/// The reduction of one axis that puts every output pixel exactly at its position in the whole image.
///
/// libvips' `reduceh` and `reducev` shrink a raster of `count` pixels by a factor `f` to `round(count / f)` pixels,
/// centered. For another phase, the raster is padded by a few copied pixels at both ends, and the result is cropped to
/// the target.
struct ExactReduction: Hashable {
    /// Edge pixels to copy before the raster.
    var lead: Int
    /// Edge pixels to copy after it.
    var trail: Int
    /// Source pixels per output pixel, at least 1.
    var factor: Double
    /// Output pixels to drop at the beginning.
    var skip: Int
    /// The distance of output pixels from their exact place, in raster pixels.
    var error: Double

    /// Whether the raster needs no padding.
    var isPlain: Bool { lead == 0 && trail == 0 && skip == 0 }

    /// Whether output pixels are within an eighth of a pixel of their place; factors just above 1 may prevent it.
    var isExact: Bool { abs(error) <= factor / 8 }

    private static let maxPad = 32

    /// A small penalty for padding breaks ties.
    private var cost: Double { abs(error) + 0.001 * Double(lead + trail) }
}

extension ExactReduction {
    /// - Parameters:
    ///   - count: raster pixels on this axis.
    ///   - origin: where the whole image begins on the raster.
    ///   - length: the whole image's length in raster pixels; `length / target` is at least 1.
    ///   - target: output pixels.
    init(count: Int, origin: Double, length: Double, target: Int) {
        let factor = length / Double(target)
        if origin == 0, length == Double(count) {
            self.init(lead: 0, trail: 0, factor: factor, skip: 0, error: 0)
            return
        }
        var best: ExactReduction?
        for lead in 0...Self.maxPad {
            for trail in 0...Self.maxPad {
                let candidate = Self.candidate(
                    count: count, origin: origin, target: target, factor: factor, lead: lead, trail: trail)
                guard let candidate else { continue }
                if best.map({ candidate.cost < $0.cost }) ?? true { best = candidate }
            }
        }
        self = best ?? ExactReduction(lead: 0, trail: Self.maxPad, factor: factor, skip: 0, error: .infinity)
    }

    private static func candidate(
        count: Int, origin: Double, target: Int, factor: Double, lead: Int, trail: Int
    ) -> ExactReduction? {
        let padded = Double(count + lead + trail)
        let reduced = Int((padded / factor).rounded())
        let centering = (Double(reduced) * factor - padded) / 2
        let skip = Int(((centering + Double(lead) + origin) / factor).rounded())
        guard skip >= 0, skip + target <= reduced else { return nil }
        let error = Double(skip) * factor - centering - Double(lead) - origin
        return ExactReduction(lead: lead, trail: trail, factor: factor, skip: skip, error: error)
    }
}
