import DarkroomTransforms
import Foundation

/// One row of `Fixtures/images.tsv`.
struct Fixture: Sendable {
    var path: String
    var uprightSize: PixelSize?
    var outcome: String

    /// The status that the row's outcome means.
    var status: Int {
        switch outcome {
        case "decode": 200
        case "unsupported": 415
        case "too-large": 413
        default: 422
        }
    }

    static func all() throws -> [Fixture] {
        let table = URL.fixtures.deletingLastPathComponent().appendingPathComponent("images.tsv")
        let lines = try String(contentsOf: table, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        guard let head = lines.first, let path = head.firstIndex(of: "path"),
            let upright = head.firstIndex(of: "upright"), let outcome = head.firstIndex(of: "outcome")
        else { return [] }
        return lines.dropFirst().map { row in
            let sides = row[upright].split(separator: "x").compactMap { Int($0) }
            return Fixture(
                path: row[path],
                uprightSize: sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil,
                outcome: row[outcome])
        }
    }
}
