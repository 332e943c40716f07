import DarkroomVips

/// The backdrop of an image: the image itself, enlarged to cover a canvas and blurred.
struct Backdrop {
    /// The size of the canvas.
    let size: PixelSize

    /// Blurring leaves no detail, so it is done on an image this many times smaller.
    private static let reduction = 8
    /// The standard deviation of the blur, as a part of the longer side.
    private static let blur = 0.04

    /// A frame that is in memory, at this place of the canvas, with its opaque backdrop behind it.
    func behind(_ frame: VipsImage, x: Int, y: Int) throws(VipsError) -> VipsImage {
        try blurred(frame).covered(by: frame, x: x, y: y)
    }

    private func blurred(_ frame: VipsImage) throws(VipsError) -> VipsImage {
        let whole = frame.size
        let covering = coveringPart(of: whole)
        let cut = try frame.flattened(on: .white).extracting(
            x: (whole.width - covering.width) / 2, y: (whole.height - covering.height) / 2, size: covering)
        let small = PixelSize(width: reduced(size.width), height: reduced(size.height))
        let sigma = Double(max(small.width, small.height)) * Self.blur
        return try ExactSampler(extent: Extent(covering), target: small, linearLight: false).sample(cut)
            .applying("gaussblur", ["sigma": .double(max(sigma, 0.5)), "precision": "float"])
            .roundedToBytes().rendered()
            .enlarged(to: size).roundedToBytes()
    }

    /// The largest part with the canvas's aspect ratio.
    private func coveringPart(of whole: PixelSize) -> PixelSize {
        size.scaled(by: size.factor(toFit: whole)).clipped(to: whole)
    }

    private func reduced(_ side: Int) -> Int { (side + Self.reduction - 1) / Self.reduction }
}
