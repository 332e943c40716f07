import Foundation
import Testing

@testable import DarkroomQuery

struct Base64URLTests {
    @Test(
        arguments: [([], ""), ([0xfb, 0xff], "-_8"), ([0x66], "Zg"), ([0x66, 0x6f, 0x6f], "Zm9v")]
            as [([UInt8], String)])
    func `Bytes have one text`(bytes: [UInt8], text: String) {
        #expect(Base64URL.text(of: bytes) == text)
        #expect(Base64URL.bytes(of: text) == Data(bytes))
    }

    @Test(arguments: ["+/8", "Zg==", "Zg=", "Zh", "Z", "Zm9v\n", "Zm 9v", "Zm9v=", "=", "é", "-_9"])
    func `Every other text is refused`(text: String) {
        #expect(Base64URL.bytes(of: text) == nil)
    }
}
