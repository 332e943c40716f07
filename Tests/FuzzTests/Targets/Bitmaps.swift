import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `Damaged bitmaps and icons are refused, or decoded to their size`() {
        let words = ["BM", "\u{28}\0\0\0", "\u{7C}\0\0\0", "\0\0\u{1}\0", "\u{3}\0\0\0", "\0\0", "\0\u{2}"]
        fuzzer.run("bitmaps", bytes: Pictures.whole(named: ["bmp", "ico", "cur"]), words: words) { input in
            let source = ByteBuffer(bytes: input)
            var headers: [BitmapHeader] = []
            if let header = try? BitmapHeader(ofFile: source) { headers.append(header) }
            if let directory = try? IconDirectory(of: source) {
                try hold(!directory.entries.isEmpty, "an icon without an image")
                let target = PixelSize(width: input.count % 300 + 1, height: 32)
                let indices = [directory.largest, directory.index(covering: target)]
                try hold(indices.allSatisfy(directory.entries.indices.contains), "\(indices)")
                for entry in directory.entries {
                    if case .bitmap(let header) = entry.format { headers.append(header) }
                }
            }
            // Larger ones are refused by their header.
            for header in headers where header.size.area <= 1 << 18 {
                for toleratesErrors in [false, true] { try Self.decode(header, source, toleratesErrors) }
            }
        }
    }

    private static func decode(_ header: BitmapHeader, _ source: ByteBuffer, _ toleratesErrors: Bool) throws {
        let decoder = BitmapDecoder(header: header, source: source)
        let result = Result { () throws(ImageProcessingError) in
            try decoder.decode(toleratesErrors: toleratesErrors) { false }
        }
        switch result {
        case .success(let image):
            let size = ImageFrames(frames: [image]).size
            try hold(size == header.size, "\(size) of \(header)")
        case .failure(.corrupt): break
        case .failure(let error): throw Unheld(reason: "\(error)")
        }
    }
}
