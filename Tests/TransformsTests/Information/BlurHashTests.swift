import DarkroomRequests
import Testing

@testable import DarkroomTransforms

/// Values by an implementation in another language, for images that two lines of code draw. woltapp's reference encoder
/// gives nearly the same colors to these images enlarged by 32: they differ by less than 3 of 255 on average.
struct BlurHashTests {
    @Test(arguments: [
        (32, 20, "LKHLPP1VRfjAMM5kw0RpIEEk#obc"), (20, 32, "LHGb*TEZaqX853EKnha:9PRVrgVr"),
        (100, 3, "LOGHx*IB9HK=hmbYb=f+iMcAk-mq"),
    ])
    func `An image has the hash of its pixels as areas`(width: Int, height: Int, hash: String) {
        #expect(BlurHash.encode(.slopes(width, height)) == hash)
    }

    @Test(arguments: [(8, 8), (1, 1), (2, 1), (1, 100), (100, 3), (3, 100), (100, 100)])
    func `An image of one color has no gradient, whatever its shape`(width: Int, height: Int) {
        let hash = BlurHash.encode(.flat(width, height, Color(red: 200, green: 30, blue: 40)))
        #expect(hash == "L0M^#7" + String(repeating: "fQ", count: 11))
    }

    @Test func `What is transparent counts as white`() {
        let clear = BlurHash.encode(.flat(4, 4, .transparent))
        #expect(clear == BlurHash.encode(.flat(4, 4, .white)))
    }
}
