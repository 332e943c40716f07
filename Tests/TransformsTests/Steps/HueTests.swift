import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct HueTests {
    @Test func `Red turns through yellow to green, blue and back`() throws {
        let source = try Drawing.flat(4, 4, [180, 80, 80])
        func turned(_ degrees: Int) throws -> [Int] { try apply(Hue(degrees: degrees), to: source)[0, 0] }
        #expect(try apply(Hue(degrees: 0), to: source).isFlat([180, 80, 80], tolerance: 2))
        let (yellow, green, blue) = (try turned(60), try turned(120), try turned(240))
        #expect(yellow[0] > yellow[2] + 50 && yellow[1] > yellow[2] + 50)
        #expect(green[1] > green[0] + 30)
        #expect(blue[2] > blue[0] + 30)
    }

    @Test func `Gray has no hue`() throws {
        #expect(
            try apply(Hue(degrees: 200), to: Drawing.flat(4, 4, [120, 120, 120])).isFlat([120, 120, 120], tolerance: 2))
    }
}
