import Testing

@testable import DarkroomTransforms

struct MirrorTests {
    @Test func `Flip exchanges top and bottom, flop left and right`() throws {
        let source = try Drawing.quarters(20, 10)
        let flipped = try apply(Flip(), to: source)
        #expect(flipped[2, 2] == Drawing.blue.map(Int.init))
        #expect(flipped[18, 8] == Drawing.green.map(Int.init))
        let flopped = try apply(Flop(), to: source)
        #expect(flopped[2, 2] == Drawing.green.map(Int.init))
        #expect(flopped[18, 8] == Drawing.blue.map(Int.init))
    }
}
