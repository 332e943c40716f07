import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `Damaged animations keep their frames inside the canvas and the file`() {
        let words = [
            "acTL", "fcTL", "fdAT", "IDAT", "IEND", "\0\0\0\u{2}", "!", ",", "\u{4}", "\u{8}", "\u{C}", "\0\0",
        ]
        let seeds = Pictures.whole(named: ["gif", "png"]).filter { $0.count <= Mutator.maxBytes }
        fuzzer.run("animations", bytes: seeds, words: words) { input in
            let file = ByteBuffer(bytes: input)
            if let animation = PNGAnimation(in: file) { try Self.check(animation, file) }
            let gif = GIFPages(file)
            // Each color table may get up to 254 colors.
            let most = input.count * 3 + 64 + (gif.count + 1) * 762
            try hold(gif.bytes.readableBytes <= most, "\(gif.bytes.readableBytes) bytes")
            let pages = (0..<gif.count).map(gif.page)
            try hold(zip(pages, pages.dropFirst()).allSatisfy(<), "pages \(pages)")
            guard gif.isChanged else { return }
            try hold(GIFPages(gif.bytes).isChanged == false, "a file is changed twice")
            try hold(GIFPages(gif.bytes).count >= gif.count, "a frame is missing")
        }
    }

    private static func check(_ animation: PNGAnimation, _ file: ByteBuffer) throws {
        let colors = animation.colorChunks(of: file)
        for frame in animation.frames {
            try hold(
                frame.x + frame.size.width <= animation.size.width
                    && frame.y + frame.size.height <= animation.size.height, "\(frame)")
            let made = animation.file(of: frame, in: file, colors: colors)
            try hold(made.readableBytes <= file.readableBytes + 64, "\(made.readableBytes) bytes")
            try hold(PNGAnimation(in: made) == nil, "a frame is an animation")
        }
    }
}
