import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `What bytes are is told without a decoder`() {
        let words = [
            "ftypavif", "ftypheic", "<svg", "<!DOCTYPE svg [", "<?xml", "<!--", "RIFF", "WEBP", "GIF89a", "\u{FEFF}",
        ]
        fuzzer.run("sniffing", bytes: Pictures.heads(bytes: 4096), words: words) { input in
            let source = ByteBuffer(bytes: input)
            let format = SourceFormat(sniffing: source)
            try hold(
                format == SourceFormat(sniffing: ByteBuffer(bytes: [0] + input).moved(by: 1)),
                "it depends on where they lie")
            _ = (
                GIFContainer.isTruncated(source), TIFFDirectory.isPresent(in: source),
                PNGContainer.isTruncatedBeforePixels(source)
            )
        }
    }

    @Test func `What EXIF says of a position is on the globe`() {
        let seeds = Pictures.heads(bytes: 4096).compactMap(Self.exif)
        fuzzer.run(
            "exif", bytes: seeds + [Array("Exif\0\0II*\0\u{8}\0\0\0".utf8)], words: ["II*\0", "MM\0*", "N", "S"]
        ) { input in
            let exif = ByteBuffer(bytes: input)
            let sized = EXIFDirectory.stating(PixelSize(width: 300, height: 70_000), in: exif)
            try hold(sized.readableBytes == input.count, "\(sized.readableBytes) of \(input.count) bytes")
            guard let position = GPSPosition(exif: exif) else { return }
            try hold(abs(position.latitude) <= 90 && abs(position.longitude) <= 180, "\(position)")
        }
    }

    /// A JPEG's EXIF data with what follows it, if it has any.
    private static func exif(_ file: [UInt8]) -> [UInt8]? {
        let mark = Array("Exif\0\0".utf8)
        return file.indices.first { file[$0...].starts(with: mark) }.map { Array(file[$0...]) }
    }
}

extension ByteBuffer {
    fileprivate func moved(by count: Int) -> ByteBuffer {
        var buffer = self
        buffer.moveReaderIndex(forwardBy: count)
        return buffer
    }
}
