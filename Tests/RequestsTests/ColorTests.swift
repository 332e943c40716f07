import DarkroomRequests
import Testing

struct ColorTests {
    @Test(arguments: [
        ("f00", "ff0000ff"), ("#0F08", "00ff0088"), ("1a2b3c", "1a2b3cff"), ("1a2b3c4d", "1a2b3c4d"),
        ("rebeccapurple", "663399ff"), ("White", "ffffffff"), ("transparent", "00000000"), ("grey", "808080ff"),
    ])
    func `Every spelling of a color has the same key`(_ text: String, _ hex: String) {
        #expect(Color(parsing: text)?.hex == hex)
    }

    @Test(arguments: ["", "#", "ff", "fffff", "1234567", "123456789", "ggg", "blanc", "0x0", "ｆｆｆ", "+12", "-1-1-1"])
    func `Other texts are no colors`(_ text: String) {
        #expect(Color(parsing: text) == nil)
    }
}
