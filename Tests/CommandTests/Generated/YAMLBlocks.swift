import Foundation
import Testing

/// A YAML document as lines, in which the blocks below keys are replaced. Everything else, such as comments, stays as
/// people wrote it. Mappings are indented by two columns, as in the contract.
struct YAMLBlocks {
    private(set) var lines: [String]

    init(_ text: String) { lines = text.components(separatedBy: "\n") }

    var text: String { lines.joined(separator: "\n") }

    /// The lines below the key at the end of a path; none where there is no such key.
    func lines(of path: [String]) -> ArraySlice<String> { range(of: path).map { lines[$0] } ?? [] }

    /// The keys right below the key at the end of a path, each with its own line and the lines below it.
    func children(of path: [String]) -> [(key: String, lines: [String])] {
        let indentation = String(repeating: "  ", count: path.count)
        var children: [(key: String, lines: [String])] = []
        for line in lines(of: path) {
            if line.hasPrefix(indentation) {
                let rest = line.dropFirst(indentation.count)
                if let key = rest.wholeMatch(of: /([^\s#\-][^:]*):.*/) { children.append((String(key.output.1), [])) }
            }
            if !children.isEmpty { children[children.count - 1].lines.append(line) }
        }
        return children
    }

    /// The lines of a key right below the key at the end of a path, with the line of the key itself.
    func child(_ key: String, of path: [String]) -> [String]? {
        children(of: path).first { $0.key == key }?.lines
    }

    mutating func replace(_ path: [String], with new: [String]) throws {
        lines.replaceSubrange(try #require(range(of: path), "The contract has no \(path)."), with: new)
    }

    mutating func replaceLine(_ index: Int, with line: String) { lines[index] = line }

    private func range(of path: [String]) -> Range<Int>? {
        var range = lines.startIndex..<lines.endIndex
        for (depth, key) in path.enumerated() {
            let start = String(repeating: "  ", count: depth) + key + ":"
            guard let found = range.first(where: { lines[$0].hasPrefix(start) }) else { return nil }
            let end = (found + 1..<range.upperBound).first { index in
                !lines[index].isEmpty && lines[index].prefix { $0 == " " }.count <= 2 * depth
            }
            range = found + 1..<(end ?? range.upperBound)
        }
        return range
    }
}
