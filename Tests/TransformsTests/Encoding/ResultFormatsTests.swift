import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct ResultFormatsTests {
    private static let choices: [(SourceFormat, Int, Bool, [OutputFormat], OutputFormat)] = [
        (.avif, 1, false, [.jpeg, .png, .gif, .webp], .jpeg), (.avif, 1, true, [.jpeg, .png, .gif], .png),
        (.avif, 1, true, [.jpeg], .jpeg), (.avif, 1, false, [.png], .png),
        (.webp, 1, false, [.jpeg, .png, .gif], .jpeg), (.webp, 1, true, [.jpeg, .png], .png),
        (.webp, 9, true, [.jpeg, .png, .gif], .gif), (.webp, 9, true, [.jpeg, .png, .gif, .webp], .webp),
        (.gif, 9, true, [.webp], .webp), (.gif, 1, false, [.jpeg], .jpeg),
        (.png, 9, true, [.jpeg, .webp], .webp), (.png, 9, true, [.gif], .gif),
        (.png, 1, false, [.jpeg], .jpeg), (.jpeg, 1, false, [.png], .png), (.jpeg, 1, false, [.gif], .gif),
        (.heic, 1, false, [.avif], .jpeg),
    ]

    @Test(arguments: choices)
    func `A source's own format is chosen only if the client shows it`(
        source: SourceFormat, frames: Int, alpha: Bool, shown: [OutputFormat], expected: OutputFormat
    ) {
        let excluded = OutputFormat.chosen.filter { !shown.contains($0) }.reduce(into: FormatSet()) {
            $0.insert(FormatSet($1))
        }
        let output = OutputOptions(excluded: excluded)
        #expect(output.formats(of: source, frames: frames, hasAlpha: alpha).first == expected)
        #expect(output.resultFormat(of: source, frames: frames, hasAlpha: alpha) == expected)
        let named = OutputOptions(format: .avif, excluded: excluded)
        #expect(named.formats(of: source, frames: 1, hasAlpha: true) == [.avif])
    }

    @Test func `An animation for a client who shows no animation has one frame`() {
        let still: FormatSet = [FormatSet(.gif), FormatSet(.webp), FormatSet(.avif)]
        for source in [SourceFormat.gif, .webp] {
            #expect(!OutputOptions(excluded: still).holdsSeveralFrames(of: source))
            let avif = OutputOptions(format: .avif, alternative: .natural, excluded: still)
            #expect(!avif.holdsSeveralFrames(of: source))
            #expect(avif.converted(to: .avif, alternative: .webp).holdsSeveralFrames(of: source))
            #expect(OutputOptions(excluded: FormatSet(.webp)).holdsSeveralFrames(of: source))
        }
    }

    @Test func `An animated PNG stays a PNG, of one frame, for a client who shows PNG and does not prefer WebP`() {
        #expect(!OutputOptions().holdsSeveralFrames(of: .png))
        #expect(!OutputOptions(excluded: FormatSet(.webp)).holdsSeveralFrames(of: .png))
        #expect(OutputOptions(excluded: FormatSet(.png)).holdsSeveralFrames(of: .png))
        #expect(OutputOptions(format: .avif, alternative: .webp).holdsSeveralFrames(of: .png))
    }
}
