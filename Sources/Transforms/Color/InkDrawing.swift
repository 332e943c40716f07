import DarkroomRequests
import DarkroomVips

/// Ink, and where its upper left corner lies on an image.
typealias Overlay = (image: VipsImage, x: Int, y: Int)

extension ImageFrames {
    /// Draws the overlays in turn, one on each frame: with several, an animation plays along. Without any, nothing
    /// changes.
    func drawing(_ overlays: [Overlay], _ blend: Mark.Blend = .over) throws(VipsError) -> ImageFrames {
        guard !overlays.isEmpty else { return self }
        var index = 0
        return try mapFrames { frame throws(VipsError) in
            let overlay = overlays[index % overlays.count]
            index += 1
            return try frame.drawing(overlay.image, x: overlay.x, y: overlay.y, blend)
        }
    }
}

/// Drawing on 8-bit samples in memory, and only where something is drawn.
extension VipsImage {
    /// The image as ink of an opacity of 0…100: without fields, which an image would get that lacks fields of its own,
    /// such as an owner.
    func asInk(opacity: Int = 100, interrupt: @escaping Interrupt) throws(VipsError) -> VipsImage {
        let ink = try addingAlpha().fading(by: Double(opacity) / 100)
        return try ink.setting(removing: ink.fields).rendered(interrupt: interrupt)
    }

    /// Draws ink (see `inked`) that lies within this image. An opaque image stays opaque.
    func drawing(
        _ ink: VipsImage, x: Int = 0, y: Int = 0, _ blend: Mark.Blend = .over
    ) throws(VipsError) -> VipsImage {
        // `composite2` converts every pixel of the image to floating point and back.
        guard blend == .over, isByte, bands == (hasAlpha ? 4 : 3), ink.isByte, ink.hasAlpha, ink.bands == 4 else {
            return try composited(with: ink, x: x, y: y, mode: blend.mode)
        }
        guard x >= 0, y >= 0, x + ink.width <= width, y + ink.height <= height else {
            throw VipsError(operation: "drawing", message: "ink outside of the image")
        }
        return try ink.withSamples { top throws(VipsError) in
            try copied { below in
                for row in 0..<ink.height {
                    let start = ((y + row) * width + x) * bands
                    let line = UnsafeMutableRawBufferPointer(rebasing: below[start..<(start + ink.width * bands)])
                    let drawn = UnsafeRawBufferPointer(
                        rebasing: top[(row * ink.width * 4)..<((row + 1) * ink.width * 4)])
                    if bands == 3 { line.drawOnOpaque(drawn) } else { line.draw(drawn) }
                }
            }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Draws pixels with alpha on as many opaque ones.
    fileprivate func drawOnOpaque(_ ink: UnsafeRawBufferPointer) {
        for pixel in 0..<(ink.count / 4) {
            let alpha = UInt32(ink[pixel * 4 + 3])
            guard alpha > 0 else { continue }
            for band in 0..<3 {
                let (above, below) = (UInt32(ink[pixel * 4 + band]), UInt32(self[pixel * 3 + band]))
                let mixed = (alpha * above + (255 - alpha) * below + 128) / 255
                self[pixel * 3 + band] = UInt8(truncatingIfNeeded: mixed)
            }
        }
    }

    /// Draws pixels with alpha on as many that have alpha too.
    fileprivate func draw(_ ink: UnsafeRawBufferPointer) {
        for pixel in 0..<(ink.count / 4) {
            let (start, alpha) = (pixel * 4, ink[pixel * 4 + 3])
            guard alpha > 0 else { continue }
            let below = self[start + 3]
            if alpha == 255 || below == 0 {
                for band in 0..<4 { self[start + band] = ink[start + band] }
                continue
            }
            let above = Float(alpha)
            let rest = Float(below) * (255 - above) / 255
            let whole = above + rest
            for band in 0..<3 {
                let mixed = (Float(ink[start + band]) * above + Float(self[start + band]) * rest) / whole
                self[start + band] = UInt8(mixed + 0.5)
            }
            self[start + 3] = UInt8(whole + 0.5)
        }
    }
}
