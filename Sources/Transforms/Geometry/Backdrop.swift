import DarkroomVips

extension VipsImage {
    /// The image, which is in memory, at a place of a canvas with an opaque backdrop: the image itself, enlarged to
    /// cover the canvas and blurred.
    func onBackdrop(of canvas: PixelSize, x: Int, y: Int) throws(VipsError) -> VipsImage {
        let covering = canvas.scaled(by: canvas.factor(toFit: size)).clipped(to: size)
        // Blurring leaves no detail, so it is done on an image an eighth as large.
        let small = PixelSize(width: (canvas.width + 7) / 8, height: (canvas.height + 7) / 8)
        let sigma = max(0.04 * Double(max(small.width, small.height)), 0.5)
        return try flattened(on: .white)
            .extracting(x: (width - covering.width) / 2, y: (height - covering.height) / 2, size: covering)
            .resampled(to: small).applying("gaussblur", ["sigma": .double(sigma), "precision": "float"])
            .roundedToBytes().rendered()
            .enlarged(to: canvas).roundedToBytes()
            .covered(by: self, x: x, y: y)
    }
}
