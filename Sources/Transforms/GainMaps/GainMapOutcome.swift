import DarkroomRequests

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
