import Foundation
import Testing

@testable import DarkroomQuery

struct VerifiedTextTests {
    /// The codes of two keys.
    private func codes(_ text: String) -> [Data] { [Data("1\(text)".utf8), Data("2\(text)".utf8)] }

    @Test(arguments: [
        ("1a", "a"), ("2a", "a"), ("1b", "b"), ("2b", "b"), ("1c", nil), ("a", nil), ("1", nil), ("", nil),
    ])
    func `The text is the spelling that any key has signed`(code: String, text: String?) {
        let verified = VerifiedText.signed(["a", "b"], as: code.utf8, codes: codes)
        #expect(verified?.text == text)
        #expect(verified?.isSigned != false)
    }

    @Test func `Without keys nothing is signed, and what needs no signature is not`() {
        #expect(VerifiedText.signed(["a"], as: "".utf8) { _ in [] } == nil)
        let text = VerifiedText.unsigned("a")
        #expect(text.text == "a" && !text.isSigned)
    }
}
