import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct GammaTests {
    @Test(arguments: [(1.0, 64), (2.2, 136), (3.0, 161)])
    func `A tone is raised to the power of 1 / exponent`(_ exponent: Double, _ expected: Int) throws {
        let pixels = try apply(Gamma(exponent: exponent), to: Drawing.flat(4, 4, [64, 0, 255]))
        #expect(pixels.isFlat([expected, 0, 255], tolerance: 1))
    }

    @Test func `Gamma does not change alpha`() throws {
        #expect(try apply(Gamma(), to: Drawing.flat(4, 4, [64, 64, 64, 64]))[0, 0][3] == 64)
    }
}
