import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// Values of evanw's algorithm, by an implementation in another language, for images that two lines of code draw.
struct ThumbHashTests {
    @Test(arguments: [
        (32, 20, "HhgGFIYwdKgjZohEiJT9ZwLVsg=="), (20, 32, "3gcGHARDBmM6hmNXaIj8rRNmgA=="),
        (100, 3, "mVcKIZAUBaJxiEmpSIBz+cc="),
    ])
    func `An opaque image has the hash that the reference gives it`(width: Int, height: Int, hash: String) {
        #expect(ThumbHash.encode(.slopes(width, height)) == hash)
    }

    @Test(arguments: [
        (32, 20, "4BeCA4IXBLUVnBXKT0X1whBTVpdneYY="), (20, 32, "4AeCCwIWRkMmCkn2nDjKYCBUVZh2amc="),
        (3, 3, "A/iBBQAApljAd3iId6bAeflzcHiGiIeIdw=="),
    ])
    func `So has one with alpha`(width: Int, height: Int, hash: String) {
        #expect(ThumbHash.encode(.slopes(width, height, alpha: true)) == hash)
    }

    @Test(arguments: [(8, 8), (1, 1), (2, 1), (1, 100), (100, 3), (3, 3)])
    func `A flat image has no frequencies but its mean, whatever rounding makes of them`(width: Int, height: Int) {
        let bytes = ThumbHash.bytes(of: .flat(width, height, Color(red: 200, green: 30, blue: 40)))
        let numbers = bytes.prefix(5).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        #expect(numbers & 63 == 22)
        #expect(numbers >> 18 & 31 == 0)
        #expect(numbers >> 23 & 1 == 0)
        #expect(numbers >> 27 & 63 == 0 && numbers >> 33 & 63 == 0)
        #expect(bytes.dropFirst(5).allSatisfy { $0 == 0 })
    }

    @Test func `An invisible image has the hash of nothing`() {
        let hash = ThumbHash.encode(.flat(4, 4, Color(red: 9, green: 9, blue: 9, alpha: 0)))
        #expect(hash == "AAiCBQAAAAAAAAAAAAAAAAAAAAAAAAAAAA==")
    }
}
