/// The rules for the order of steps and the sizes of a chain.
public enum ChainRules: String, Codable, Sendable, CaseIterable {
    /// Darkroom's own rules.
    case darkroom
    /// The rules of weserv/images, for URLs that were written for it.
    ///
    /// Without enlarging, `cover` and `fill` keep the box's sides that the image reaches instead of its aspect ratio. A
    /// quarter turn and mirroring come before `cover` crops and `contain` extends, another rotation after it. A crop
    /// comes before scaling and a cut right after cropping; of both, what exceeds the image is left out. The background
    /// comes before the mask, and of an animation `trim` removes columns only.
    case weserv
    /// The rules of imagor, for URLs that were written for thumbor or imagor.
    ///
    /// Sizes are libvips' thumbnail sizes. A crop leaves out what exceeds the source, and `trim` looks at the whole
    /// source. Mirroring comes right after the resize, and before the listed steps.
    case thumbor
    /// The rules of Cloudflare Images.
    ///
    /// The source is cut, mirrored and turned by quarter turns before it is scaled. `outside` is cut to the box, and
    /// keeps a side of the image that does not reach it; `outside` with enlarging enlarges into the box, and never
    /// shrinks.
    case cloudflare
}

extension Recipe {
    /// The steps in the order of weserv/images.
    func weservSteps(scaleDownLimits limits: ScaleDownLimits?) -> [(any Transform)?] {
        let isQuarterTurn = rotationDegrees.isQuarterTurns
        let turned: [(any Transform)?] = [
            isQuarterTurn ? Rotate(self) : nil, flip ? Flip() : nil, flop ? Flop() : nil,
        ]
        let scaled: [(any Transform)?] = [Resize(self, within: limits), ToSRGB()]
        let sized: [(any Transform)?] = crop.map { turned + [Cut($0)] + scaled } ?? (scaled + turned)
        var trim = trim
        trim?.keepsHeightOfAnimations = true
        return [trim, Orient(self)] + sized
            + [Clip(self), cut, ContainExtend(self), isQuarterTurn ? nil : Rotate(self)] + effects
            + listedSteps + [markAtLast, textAtLast, Flatten(self), Border(self), Mask(self), Pad(self)]
    }
}
