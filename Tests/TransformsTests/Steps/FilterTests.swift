import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct FilterTests {
    private func filtered(_ filter: Filter, _ color: [UInt8]) throws -> [Int] {
        try apply(filter, to: Drawing.flat(4, 4, color))[2, 2]
    }

    @Test func `Greyscale keeps lightness and removes color`() throws {
        let gray = try filtered(.greyscale, [220, 30, 30])
        #expect(Set(gray).count == 1)
        #expect((60...150).contains(gray[0]))
        #expect(try filtered(.greyscale, [128, 128, 128]) == [128, 128, 128])
    }

    @Test func `Sepia is warm, and white stays bright`() throws {
        let brown = try filtered(.sepia, [128, 128, 128])
        #expect(brown[0] > brown[1] && brown[1] > brown[2])
        #expect(try filtered(.sepia, [255, 255, 255])[0] == 255)
        #expect(try filtered(.sepia, [0, 0, 0]) == [0, 0, 0])
    }

    @Test func `Negate inverts colors, and twice restores them`() throws {
        #expect(try filtered(.negate, [10, 100, 255]) == [245, 155, 0])
        #expect(try filtered(.negate, [245, 155, 0]) == [10, 100, 255])
    }

    @Test func `Bitonal leaves black and white, by lightness`() throws {
        #expect(try filtered(.bitonal, [200, 140, 120]) == [255, 255, 255])
        #expect(try filtered(.bitonal, [128, 128, 128]) == [255, 255, 255])
        #expect(try filtered(.bitonal, [127, 127, 127]) == [0, 0, 0])
        #expect(try filtered(.bitonal, [20, 30, 200]) == [0, 0, 0])
    }

    @Test(arguments: Filter.allCases)
    func `No filter changes alpha`(_ filter: Filter) throws {
        #expect(try filtered(filter, [10, 100, 200, 99])[3] == 99)
    }
}
