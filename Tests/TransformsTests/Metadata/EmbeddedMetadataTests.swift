import DarkroomVips
import Testing

@testable import DarkroomTransforms

struct EmbeddedMetadataTests {
    @Test func `A text is cleaned as far as it may be kept`() throws {
        let metadata = EmbeddedMetadata(of: try Drawing.flat(1, 1, [0]), maxLength: 10)
        #expect(metadata.clean(" a\u{1}b\n ") == "ab")
        #expect(metadata.clean(String(repeating: "é", count: 1_000_000)) == String(repeating: "é", count: 10))
        let control = String(repeating: "\u{1}", count: 630)
        #expect(metadata.clean(control + "0123456789") == "0123456789")
        #expect(metadata.clean(control + control + "0123456789") == nil)
    }
}
