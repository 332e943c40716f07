import DarkroomRequests
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

    /// The fixtures with the outcomes that the running version of libvips must have.
    static func all() throws -> [Fixture] {
        let exceptions = try table("images-by-libvips.tsv").filter { row in
            isAtMostThis(row["from"]) && (row["before"] == "-" || !isAtMostThis(row["before"]))
        }
        let outcomes = Dictionary(
            exceptions.map { ($0["path"], $0["expected"]) }, uniquingKeysWith: { first, _ in first })
        return try table("images.tsv").map { row in
            let sides = (row["upright"] ?? "").split(separator: "x").compactMap { Int($0) }
            return Fixture(
                path: row["path"] ?? "",
                uprightSize: sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil,
                outcome: outcomes[row["path"]].flatMap(\.self) ?? row["outcome"] ?? "")
        }
    }

    private static func isAtMostThis(_ version: String?) -> Bool {
        (version ?? "").compare(InstalledCodecs.libvipsVersion, options: .numeric) != .orderedDescending
    }

    /// The rows of a table beside the images, as cells by column name.
    private static func table(_ name: String) throws -> [[String: String]] {
        let file = URL.fixtures.deletingLastPathComponent().appendingPathComponent(name)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { Dictionary(zip(names, $0), uniquingKeysWith: { first, _ in first }) }
    }
}
