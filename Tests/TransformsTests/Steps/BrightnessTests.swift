import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct BrightnessTests {
    @Test(arguments: [
        (0, [100, 150, 200]), (20, [151, 201, 251]), (100, [255, 255, 255]), (-100, [0, 0, 0]), (-50, [0, 23, 73]),
    ])
    func `A percentage of full scale is added to every channel and clipped`(_ percent: Int, _ expected: [Int]) throws {
        let pixels = try apply(Brightness(percent: percent), to: Drawing.flat(4, 4, [100, 150, 200]))
        #expect(pixels.isFlat(expected, tolerance: 1))
    }

    @Test func `Alpha stays as it is`() throws {
        #expect(try apply(Brightness(percent: 30), to: Drawing.flat(4, 4, [1, 2, 3, 77]))[0, 0][3] == 77)
    }
}
