import Testing

@testable import DarkroomTransforms

/// Values of woltapp's reference encoder for images that two lines of code draw.
struct BlurHashTests {
    @Test(arguments: [
        (32, 20, "LHHLPP2OI*xQmp5QrYVxH^5q#Uj^"), (20, 32, "LHGb*TS=W4x?9qEJi^WM9NM+nDVt"),
        (100, 3, "LTGHx*MyDlO~|lV@NGXfhmb=c8i$"),
    ])
    func `An image has the hash that the reference encoder gives it`(width: Int, height: Int, hash: String) {
        #expect(BlurHash.encode(.slopes(width, height)) == hash)
    }

    @Test(arguments: [(8, 8, "LNM^#7|xfQ|x|xsVfQsVfQfQfQfQ"), (1, 1, "L~M^#7|{|{|{|{|{|{|{|{|{|{|{")])
    func `So has an image of one color, even of one pixel`(width: Int, height: Int, hash: String) {
        #expect(BlurHash.encode(.flat(width, height, Color(red: 200, green: 30, blue: 40))) == hash)
    }

    @Test func `What is transparent counts as white`() {
        let clear = BlurHash.encode(.flat(4, 4, .transparent))
        #expect(clear == BlurHash.encode(.flat(4, 4, .white)))
    }
}
