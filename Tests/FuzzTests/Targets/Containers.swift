import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `Damaged files are stripped to what stripping does not change, or refused`() {
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

    @Test func `A damaged HEIF or AVIF is read within its bytes, and rewritten once`() {
        let seeds = Pictures.whole(named: ["avif", "heic"]).filter { $0.count <= Mutator.maxBytes }
        let words = [
            "meta", "iloc", "idat", "iinf", "infe", "iref", "cdsc", "auxl", "prem", "dimg", "iprp", "ipco", "ipma",
            "colr", "nclx", "irot", "imir", "clap", "auxC", "grpl", "grid", "\u{FF}\u{FF}", "\0\0\0\0",
        ]
        fuzzer.run("heif", bytes: seeds, words: words) { input in
            let file = ByteBuffer(bytes: input)
            _ = try? HEIFRequirements.readable(file)
            guard let container = HEIFContainer(of: file) else { return }
            _ = container.color
            _ = AlphaForm(of: file, .avif)
            try hold(container.references.allSatisfy { $0.to.count <= input.count / 2 }, "more targets than bytes")
            guard let rewritten = container.rewritten() else { return }
            try hold(rewritten.readableBytes <= 8 * input.count + 4096, "\(rewritten.readableBytes) bytes")
            guard let again = HEIFContainer(of: rewritten) else { throw Unheld(reason: "unreadable") }
            try hold(again.primary == container.primary, "another image")
            try hold(again.rewritten() == nil, "rewritten twice")
        }
    }

    @Test func `Damage that costs no pixel is mended once`() {
        let seeds = Pictures.whole(named: ["jpg", "png", "webp"]).filter { $0.count <= Mutator.maxBytes }
        let words = ["\u{FF}", "IDAT", "tRNS", "PLTE", "IEND", "RIFF", "VP8X", "VP8 ", "ANMF", "\0\0\0\0"]
        fuzzer.run("mended", bytes: seeds, words: words) { input in
            let file = ByteBuffer(bytes: input)
            if let ended = JPEGContainer.withEnd(file) { try hold(JPEGContainer.withEnd(ended) == nil, "two ends") }
            if let sized = WebPContainer.withWholeLength(file) {
                try hold(WebPContainer.withWholeLength(sized) == nil, "two lengths")
            }
            let ordered = PNGContainer.readable(file)
            try hold(PNGContainer.readable(ordered) == ordered, "ordered twice")
            guard let whole = PNGContainer.withWholePixels(file) else { return }
            try hold(!PNGContainer.hasWrongChecksum(whole) || PNGContainer.hasWrongChecksum(file), "wrong checksum")
        }
    }

    @Test func `The headers of damaged TIFF and JPEG XL say something about their bands, or nothing`() {
        let seeds = Pictures.whole(named: ["tiff", "jxl"]).filter { $0.count <= Mutator.maxBytes }
        fuzzer.run("bands", bytes: seeds, words: ["II*\0", "MM\0*", "jxlc", "jxlp", "\u{FF}\n"]) { input in
            let file = ByteBuffer(bytes: input)
            _ = AlphaForm(of: file, .jxl)
            for page in 0...2 { _ = AlphaForm(of: file, .tiff, page: page) }
        }
    }
}
