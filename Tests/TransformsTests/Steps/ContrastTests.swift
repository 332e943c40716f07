import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct ContrastTests {
    private func tones(_ percent: Int) throws -> [Int] {
        let ramp = try Drawing.image(5, 1) { x, _ in [[0, 64, 128, 192, 255][x]] }
        let pixels = try apply(Contrast(percent: percent), to: ramp)
        return (0..<5).map { pixels[$0, 0][0] }
    }

    @Test func `More contrast moves tones away from the middle, less towards it; ends and middle stay`() throws {
        let (more, less) = (try tones(40), try tones(-40))
        for ends in [more, less] {
            #expect(ends[0] == 0)
            #expect(ends[4] == 255)
            #expect(abs(ends[2] - 128) <= 2)
        }
        #expect(more[1] < 56 && more[3] > 199)
        #expect(less[1] > 70 && less[3] < 185)
    }

    @Test func `No contrast changes nothing, and less undoes more`() throws {
        #expect(try tones(0) == [0, 64, 128, 192, 255])
        let ramp = try Drawing.image(256, 1) { x, _ in [UInt8(x)] }
        let there = try Contrast(percent: 20).apply(
            ImageFrames(frames: [ramp]),
            context: TransformContext(plan: ChainPlan(source: .init(width: 256, height: 1)), interrupt: { false }))
        let back = try apply(Contrast(percent: -20), to: there.first)
        #expect((0..<256).allSatisfy { abs(back[$0, 0][0] - $0) <= 3 })
    }
}
