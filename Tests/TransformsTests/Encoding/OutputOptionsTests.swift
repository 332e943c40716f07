import Testing

@testable import DarkroomTransforms

struct OutputOptionsTests {
    @Test func `Unsupported options are dropped, so equal encodings have equal keys`() {
        #expect(OutputOptions(format: .png, quality: 50) == OutputOptions(format: .png))
        #expect(OutputOptions(format: .jpeg, quality: 80) == OutputOptions(format: .jpeg))
        #expect(OutputOptions(format: .jpeg, lossless: true) == OutputOptions(format: .jpeg))
        #expect(
            OutputOptions(format: .webp, quality: 30, lossless: true) == OutputOptions(format: .webp, lossless: true))
        #expect(OutputOptions(format: .avif, interlaced: true) == OutputOptions(format: .avif))
        #expect(OutputOptions(format: .lqip, quality: 3, lossless: true, details: .all) == OutputOptions(format: .lqip))
    }

    @Test func `Options that change bytes change the key`() {
        let all = [
            OutputOptions(), OutputOptions(quality: 50), OutputOptions(lossless: true), OutputOptions(interlaced: true),
            OutputOptions(format: .jpeg), OutputOptions(format: .jpeg, quality: 79),
            OutputOptions(format: .jpeg, interlaced: true),
            OutputOptions(format: .webp), OutputOptions(format: .webp, quality: 80),
            OutputOptions(format: .webp, lossless: true),
            OutputOptions(format: .png), OutputOptions(format: .png, interlaced: true),
            OutputOptions(format: .json), OutputOptions(format: .json, details: .color),
            OutputOptions(format: .json, details: [.color, .lqip]), OutputOptions(format: .blurHash),
        ]
        #expect(Set(all.map(\.key)).count == all.count)
    }

    @Test func `Options without a format become that format's own`() {
        let open = OutputOptions(quality: 80, interlaced: true)
        #expect(open.resolved(for: .jpeg) == OutputOptions(format: .jpeg, interlaced: true))
        #expect(open.resolved(for: .png) == OutputOptions(format: .png, interlaced: true))
    }
}
