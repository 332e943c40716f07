import DarkroomDialects
import Testing

struct DialectReferenceTests {
    @Test(arguments: [Thumbor.reference, Cloudflare.reference])
    func `a table lists each option once`(reference: [OptionReference]) {
        #expect(Set(reference.map(\.syntax)).count == reference.count)
    }

    @Test func `every reason is a sentence`() {
        for row in Thumbor.reference + Cloudflare.reference {
            switch row.outcome {
            case .parameters(let text): #expect(!text.isEmpty, "\(row.syntax)")
            case .ignored(let reason), .refused(let reason): #expect(reason.hasSuffix("."), "\(row.syntax)")
            }
        }
    }
}
