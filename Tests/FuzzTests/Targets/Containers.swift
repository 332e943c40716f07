import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `damaged files are stripped to what stripping does not change, or refused`() {
        let seeds = Pictures.whole(named: ["jpg", "png", "webp", "gif"]).filter { $0.count <= Mutator.maxBytes }
        let words = [
            "\u{FF}", "Exif\0\0", "JFIF\0", "Adobe", "IDAT", "tEXt", "PLTE", "VP8X", "EXIF", "ANMF", "ALPH",
            "NETSCAPE2.0",
            "!", ",", ";", "\0\0\0\0",
        ]
        fuzzer.run("containers", bytes: seeds, words: words) { input in
            let file = ByteBuffer(bytes: input)
            for format in [OutputFormat.jpeg, .png, .webp, .gif] {
                guard let strip = format.row.stripped, let stripped = strip(file) else { continue }
                try hold(stripped.readableBytes <= input.count, "\(stripped.readableBytes) of \(input.count) bytes")
                try hold(strip(stripped) == stripped, "\(format) is stripped further")
                try hold(SourceFormat(signatureOf: stripped)?.mediaType == format.mediaType, "no \(format)")
            }
        }
    }
}
