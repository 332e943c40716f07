import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct SaturationTests {
    @Test func `A factor of 0 is gray, 1 changes nothing, more is more colorful`() throws {
        let source = try Drawing.flat(4, 4, [180, 110, 100])
        let gray = try apply(Saturation(factor: 0), to: source)[1, 1]
        #expect((gray.max() ?? 0) - (gray.min() ?? 0) <= 2)
        #expect(try apply(Saturation(factor: 1), to: source).isFlat([180, 110, 100], tolerance: 2))
        let more = try apply(Saturation(factor: 1.5), to: source)[1, 1]
        #expect(more[0] - more[2] > 95)
    }

    @Test func `Gray stays gray and alpha is unchanged`() throws {
        #expect(
            try apply(Saturation(factor: 3), to: Drawing.flat(4, 4, [90, 90, 90, 50])).isFlat(
                [90, 90, 90, 50], tolerance: 2))
    }
}
