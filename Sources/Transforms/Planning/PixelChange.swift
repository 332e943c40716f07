import DarkroomRequests

/// What steps do to the pixels that a file has, as far as the time of encoding depends on it. In ascending order.
enum PixelChange: Comparable {
    /// Pixels keep their values, at another place or not at all.
    case moved
    /// Pixels become means of others, or plain: there is no more detail than before.
    case mixed
    /// Anything may be drawn, and contrast may grow.
    case drawn

    init(_ step: any Transform) {
        switch step {
        case is SourceDigest, is Orient, is Crop, is Inset, is Trim, is CoverCrop, is Flip, is Flop, is ColorConversion,
            is FaceZoom, is Rendering:
            self = .moved
        case let stills as StillsOnly: self = PixelChange(stills.step)
        case let rotation as Rotate: self = rotation.degrees.isQuarterTurns ? .moved : .mixed
        case is Resize, is LayoutResize, is LayoutCanvas, is Scale, is ContainExtend, is Pad, is CanvasFill, is Flatten,
            is FlattenStep, is Blur, is Pixelate:
            self = .mixed
        default: self = .drawn
        }
    }
}
