import Testing

@testable import DarkroomDialects

/// The rows that the tables of options in the documentation are made of.
struct DialectReferenceTests {
    private static let names = [
        CloudflareOptions.table.rows.flatMap(\.names), ThumborFilters.table.rows.flatMap(\.names),
        ImgproxyTable.image.rows.flatMap(\.names), ImgproxyTable.information.rows.flatMap(\.names),
    ]
    private static let outcomes =
        CloudflareOptions.table.rows.map(\.outcome) + ThumborFilters.table.rows.map(\.outcome)
        + ImgproxyTable.image.rows.map(\.outcome) + ImgproxyTable.information.rows.map(\.outcome)

    @Test(arguments: names)
    func `A table lists each option once`(names: [String]) {
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: outcomes)
    func `Every reason is a sentence`(outcome: OptionOutcome) {
        switch outcome {
        case .parameters(let text): #expect(!text.isEmpty)
        case .ignored(let reason), .refused(let reason): #expect(reason.hasSuffix("."))
        }
    }
}
