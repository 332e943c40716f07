import DarkroomVips
import NIOCore

@testable import DarkroomTransforms

/// An animated PNG of frames of one color each.
struct AnimatedPNG {
    struct Frame {
        var x = 0
        var y = 0
        var side = 4
        /// Red, green, blue and alpha.
        var color: [UInt8]
        var delay: (UInt16, UInt16) = (1, 10)
        var disposal: PNGAnimation.Disposal = .none
        var blending: PNGAnimation.Blending = .source

        fileprivate func control(_ sequence: UInt32) -> [UInt8] {
            var content = ByteBuffer()
            for number in [sequence, UInt32(side), UInt32(side), UInt32(x), UInt32(y)] { content.writeInteger(number) }
            content.writeInteger(delay.0)
            content.writeInteger(delay.1)
            content.writeBytes([disposal.rawValue, blending.rawValue])
            return Array(content.readableBytesView)
        }
    }

    /// The side of the canvas.
    static let side = 4
    var frames: [Frame]
    var plays: UInt32 = 3
    /// The color of a default image that is not part of the animation; nil = the first frame is the default image.
    var hidden: [UInt8]?
    var is16Bit = false

    func file() throws -> PNGFile {
        let first = try image(hidden ?? frames[0].color, hidden == nil ? frames[0].side : Self.side)
        var file = first
        file.chunks = [first.chunks[0], chunk("acTL", UInt32(frames.count), plays)]
        var sequence: UInt32 = 0
        if hidden != nil { file.chunks += first.chunks.filter { $0.type == "IDAT" } }
        for (index, frame) in frames.enumerated() {
            file.chunks.append(PNGFile.Chunk(type: "fcTL", content: frame.control(sequence)))
            sequence += 1
            for pixels in try image(frame.color, frame.side).chunks where pixels.type == "IDAT" {
                guard index > 0 || hidden != nil else {
                    file.chunks.append(pixels)
                    continue
                }
                var content = chunk("fdAT", sequence)
                content.content += pixels.content
                file.chunks.append(content)
                sequence += 1
            }
        }
        file.chunks.append(PNGFile.Chunk(type: "IEND", content: []))
        return file
    }

    private func chunk(_ type: String, _ numbers: UInt32...) -> PNGFile.Chunk {
        var content = ByteBuffer()
        for number in numbers { content.writeInteger(number) }
        return PNGFile.Chunk(type: type, content: Array(content.readableBytesView))
    }

    private func image(_ color: [UInt8], _ side: Int) throws -> PNGFile {
        var image = try VipsImage.fromBytes(
            Array(repeating: color, count: side * side).flatMap(\.self), width: side, height: side, bands: color.count
        ).applying("copy", ["interpretation": "srgb"])
        if is16Bit { image = try image.applying("colourspace", ["space": "rgb16"]) }
        return PNGFile(try VipsSaver.png.encode(image))
    }
}
