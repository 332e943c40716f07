import DarkroomRequests
import Testing

struct OutputOptionsTests {
    @Test func `Unsupported options are dropped, so equal encodings have equal keys`() {
        #expect(OutputOptions(format: .png, quality: 50) == OutputOptions(format: .png))
        #expect(OutputOptions(format: .jpeg, quality: 80) == OutputOptions(format: .jpeg))
        #expect(OutputOptions(format: .jpeg, lossless: true) == OutputOptions(format: .jpeg))
        #expect(
            OutputOptions(format: .webp, quality: 30, lossless: true) == OutputOptions(format: .webp, lossless: true))
        #expect(OutputOptions(format: .avif, interlaced: true) == OutputOptions(format: .avif))
        #expect(OutputOptions(format: .avif, nearLossless: true) == OutputOptions(format: .avif))
        #expect(OutputOptions(format: .webp, palette: true) == OutputOptions(format: .webp))
        #expect(OutputOptions(format: .jpeg, compression: 9, filtersRows: true) == OutputOptions(format: .jpeg))
        #expect(OutputOptions(compression: 9, filtersRows: true).converted(to: .webp) == OutputOptions(format: .webp))
        #expect(OutputOptions(format: .png, target: .high) == OutputOptions(format: .png))
        // No model predicts how a GIF looks.
        #expect(OutputOptions(format: .gif, target: .high) == OutputOptions(format: .gif))
        #expect(OutputOptions(format: .gif, quality: 30, target: .high) == OutputOptions(format: .gif, quality: 30))
        #expect(OutputOptions(format: .jpeg, quality: 30, target: .low) == OutputOptions(format: .jpeg, target: .low))
        #expect(
            OutputOptions(format: .webp, target: .low, lossless: true) == OutputOptions(format: .webp, lossless: true))
        #expect(
            OutputOptions(format: .webp, lossless: true, nearLossless: true)
                == OutputOptions(format: .webp, quality: 60, nearLossless: true))
        for output in [
            OutputOptions(format: .avif, passthrough: .auto), OutputOptions(format: .blurHash, passthrough: .auto),
            OutputOptions(interlaced: true, passthrough: .auto), OutputOptions(palette: true, passthrough: .auto),
            OutputOptions(format: .jpeg, interlaced: true, passthrough: .auto),
        ] { #expect(output.passthrough == .off && !output.key.contains("pass")) }
        for output in [
            OutputOptions(format: .avif, passthrough: .auto, alternative: .webp),
            OutputOptions(format: .jpeg, quality: 5, palette: true, passthrough: .auto),
            OutputOptions(passthrough: .auto).converted(to: .gif),
        ] { #expect(output.passthrough == .auto && output.key.contains("pass-auto")) }
        #expect(OutputOptions(format: .json, maxBytes: 100, metadata: .all) == OutputOptions(format: .json))
        #expect(OutputOptions(format: .png, hdr: .keep) == OutputOptions(format: .png))
        #expect(OutputOptions(format: .jpeg, hdr: .keep, damaged: .show).key == "jpg(-,-,-,hdr-keep,damaged-show)")
        #expect(OutputOptions(format: .lqip, quality: 3, lossless: true, details: .all) == OutputOptions(format: .lqip))
    }

    @Test func `Options that change bytes change the key`() {
        let all = [
            OutputOptions(), OutputOptions(quality: 50), OutputOptions(lossless: true), OutputOptions(interlaced: true),
            OutputOptions(format: .jpeg), OutputOptions(format: .jpeg, quality: 79),
            OutputOptions(format: .jpeg, interlaced: true),
            OutputOptions(format: .webp), OutputOptions(format: .webp, quality: 80),
            OutputOptions(format: .webp, lossless: true),
            OutputOptions(target: .medium), OutputOptions(target: .high), OutputOptions(maxBytes: 100),
            OutputOptions(target: .medium, maxBytes: 100), OutputOptions(quality: 50, maxBytes: 100),
            OutputOptions(nearLossless: true), OutputOptions(quality: 50, nearLossless: true),
            OutputOptions(palette: true), OutputOptions(compression: 9), OutputOptions(filtersRows: true),
            OutputOptions(passthrough: .auto), OutputOptions(format: .png, passthrough: .auto),
            OutputOptions(format: .png), OutputOptions(format: .png, interlaced: true),
            OutputOptions(format: .json), OutputOptions(format: .json, details: .color),
            OutputOptions(format: .json, details: [.color, .lqip]), OutputOptions(format: .blurHash),
            OutputOptions(excluded: FormatSet(.webp)), OutputOptions(excluded: FormatSet(.avif)),
            OutputOptions(metadata: .none), OutputOptions(metadata: .all), OutputOptions(format: .gif, metadata: .none),
        ]
        #expect(Set(all.map(\.key)).count == all.count)
    }

    @Test func `Options without a format become that format's own`() {
        let open = OutputOptions(quality: 80, interlaced: true)
        #expect(open.converted(to: .jpeg) == OutputOptions(format: .jpeg, interlaced: true))
        #expect(open.converted(to: .png) == OutputOptions(format: .png, interlaced: true))
    }
}
