import DarkroomRequests
import DarkroomVips
import NIOCore

/// Draws the frames of an animated PNG on its canvas, as libvips delivers other animations: complete frames, one below
/// the other.
struct PNGAnimationDecoder: Sendable {
    let animation: PNGAnimation
    let source: ByteBuffer

    /// Decodes all frames up to the last of `picked`, since each frame is drawn on the frames before it.
    ///
    /// - Parameter picked: the indices of the frames to deliver, in ascending order.
    func decode(_ picked: [Int], interrupt: @escaping Interrupt) throws(VipsError) -> VipsImage {
        let first = try pixels(of: animation.frames[0], colors: nil, interrupt: interrupt)
        return first.isShort
            ? try draw(picked, as: UInt16.self, first, interrupt: interrupt)
            : try draw(picked, as: UInt8.self, first, interrupt: interrupt)
    }

    private func draw<Sample: FixedWidthInteger & UnsignedInteger>(
        _ picked: [Int], as _: Sample.Type, _ first: VipsImage, interrupt: @escaping Interrupt
    ) throws(VipsError) -> VipsImage {
        let canvas = try VipsCanvas(template(first), frames: picked.count)
        var drawing = Drawing<Sample>(size: animation.size, bands: first.bands)
        let colors = animation.colorChunks(of: source)
        var delivered = 0
        for (index, frame) in animation.frames.enumerated() where delivered < picked.count {
            let pixels = index == 0 ? first : try self.pixels(of: frame, colors: colors, interrupt: interrupt)
            let saved = frame.disposal == .previous && index > 0 ? drawing.area(of: frame) : nil
            try pixels.withSamples { samples in drawing.draw(samples.bindMemory(to: Sample.self), frame) }
            while delivered < picked.count, picked[delivered] == index {
                drawing.samples.withUnsafeBytes { canvas.write($0, row: delivered * animation.size.height) }
                delivered += 1
            }
            // The area of a first frame that asks for the previous one is cleared, like the area before it.
            if frame.disposal != .none { drawing.fill(frame, with: saved) }
        }
        return canvas.image
    }

    /// The pixels of one frame, with an alpha channel if the animation needs one. All frames have the same kind of
    /// samples, since they share the header's color type and depth.
    private func pixels(
        of frame: PNGAnimation.Frame, colors: ByteBuffer?, interrupt: @escaping Interrupt
    ) throws(VipsError) -> VipsImage {
        let file = animation.file(of: frame, in: source, colors: colors)
        return try VipsLoader.png.withImage(of: file, ["access": "sequential"]) { lazy throws(VipsError) in
            try (animation.clearsPixels ? lazy.addingAlpha() : lazy).rendered(interrupt: interrupt)
        }
    }

    /// An image of the canvas' size with the fields of the first frame and the timing of all.
    private func template(_ first: VipsImage) throws(VipsError) -> VipsImage {
        let (frame, size) = (animation.frames[0], animation.size)
        return try first.applying(
            "embed",
            ["x": .int(frame.x), "y": .int(frame.y), "width": .int(size.width), "height": .int(size.height)]
        ).setting(ints: ["loop": animation.plays], arrays: ["delay": animation.frames.map(\.delay)])
    }
}

/// The canvas of an animation, as samples with interleaved bands.
private struct Drawing<Sample: FixedWidthInteger & UnsignedInteger> {
    private(set) var samples: [Sample]
    private let width: Int
    private let bands: Int

    /// A transparent canvas.
    init(size: PixelSize, bands: Int) {
        samples = [Sample](repeating: 0, count: size.area * bands)
        (width, self.bands) = (size.width, bands)
    }

    /// The samples of a frame's row on the canvas.
    private func row(_ row: Int, of frame: PNGAnimation.Frame) -> Range<Int> {
        let start = ((frame.y + row) * width + frame.x) * bands
        return start..<start + frame.size.width * bands
    }

    /// A copy of the area that a frame covers.
    func area(of frame: PNGAnimation.Frame) -> [Sample] {
        var area: [Sample] = []
        area.reserveCapacity(frame.size.area * bands)
        for row in 0..<frame.size.height { area += samples[self.row(row, of: frame)] }
        return area
    }

    /// Replaces the area that a frame covers.
    ///
    /// - Parameter area: nil = transparent.
    mutating func fill(_ frame: PNGAnimation.Frame, with area: [Sample]?) {
        let length = frame.size.width * bands
        for row in 0..<frame.size.height {
            let range = self.row(row, of: frame)
            if let area {
                samples.replaceSubrange(range, with: area[row * length..<(row + 1) * length])
            } else {
                samples.replaceSubrange(range, with: repeatElement(0 as Sample, count: length))
            }
        }
    }

    /// - Parameter pixels: the frame's samples; another number of samples is ignored.
    mutating func draw(_ pixels: UnsafeBufferPointer<Sample>, _ frame: PNGAnimation.Frame) {
        let (length, bands) = (frame.size.width * bands, bands)
        guard pixels.count == frame.size.height * length else { return }
        let isCopied = frame.blending == .source || !bands.isMultiple(of: 2)
        for row in 0..<frame.size.height {
            let source = UnsafeBufferPointer(rebasing: pixels[row * length..<(row + 1) * length])
            let range = self.row(row, of: frame)
            samples.withUnsafeMutableBufferPointer { samples in
                let target = UnsafeMutableBufferPointer(rebasing: samples[range])
                if isCopied {
                    _ = target.update(fromContentsOf: source)
                } else {
                    Self.blend(source, over: target, bands: bands)
                }
            }
        }
    }

    /// Draws pixels with straight alpha over others.
    private static func blend(
        _ source: UnsafeBufferPointer<Sample>, over target: UnsafeMutableBufferPointer<Sample>, bands: Int
    ) {
        let most = UInt64(Sample.max)
        for pixel in stride(from: 0, to: source.count, by: bands) {
            let alpha = pixel + bands - 1
            if source[alpha] == 0 { continue }
            if source[alpha] == Sample.max || target[alpha] == 0 {
                for index in pixel...alpha { target[index] = source[index] }
                continue
            }
            let above = UInt64(source[alpha]) * most
            let below = (most - UInt64(source[alpha])) * UInt64(target[alpha])
            let sum = above + below
            for index in pixel..<alpha {
                let mixed = (UInt64(source[index]) * above + UInt64(target[index]) * below + sum / 2) / sum
                target[index] = Sample(truncatingIfNeeded: mixed)
            }
            target[alpha] = Sample(truncatingIfNeeded: (sum + most / 2) / most)
        }
    }
}
