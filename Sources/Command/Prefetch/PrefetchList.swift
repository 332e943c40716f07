import DarkroomLoading
import DarkroomQuery
import Foundation

/// The list of a `darkroom prefetch` command, and the variants of each source.
struct PrefetchList: Sendable {
    /// The addresses of sources, each with its line.
    private var urls: [(line: Int, url: String)] = []
    private let queries: [String]
    private let widths: [Int]

    static let maxBytes = 256 << 20

    /// - Parameter text: one source per line. Empty lines and lines that begin with `#` are ignored.
    init(_ text: String, queries: [String] = [], widths: [Int] = []) {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let url = Substring(line).trimmingCharacters(in: Self.ignored)
            if !url.isEmpty, !url.hasPrefix("#") { urls.append((index + 1, url)) }
        }
        self.queries = queries
        self.widths = widths
    }

    var imageCount: Int { urls.count * imagesPerSource }

    private var imagesPerSource: Int { max(1, queries.count + widths.count) }

    /// The content of one job.
    struct Batch: Sendable {
        let imageCount: Int
        /// A body of `POST /prefetch`.
        let body: Data
        fileprivate let lines: [Int]

        /// The line of a member of the body that the server has refused, such as `urls[3]`.
        func line(ofMember member: String?) -> Int? {
            guard let index = member?.wholeMatch(of: /urls\[(\d{1,6})\]/).flatMap({ Int($0.1) }),
                lines.indices.contains(index)
            else { return nil }
            return lines[index]
        }
    }

    /// The list in parts that the server takes as jobs, with at most these images and bytes of a body each.
    func batches(maxImages: Int = Prefetcher.maxItems, maxBytes: Int = PrefetchBody.maxBytes) -> some Sequence<Batch> {
        let perBatch = max(1, maxImages / imagesPerSource)
        let empty = body(of: []).count
        return sequence(state: 0) { next -> Batch? in
            guard next < urls.count else { return nil }
            let start = next
            var bytes = empty
            while next < urls.count, next - start < perBatch {
                bytes += Self.jsonBytes(urls[next].url) + 1
                guard bytes <= maxBytes || next == start else { break }
                next += 1
            }
            let part = urls[start..<next]
            return Batch(
                imageCount: part.count * imagesPerSource, body: body(of: part.map(\.url)), lines: part.map(\.line))
        }
    }

    private struct Body: Encodable {
        let urls: [String]
        // Absent rather than empty, which the server refuses.
        let queries: [String]?
        let widths: [Int]?
    }

    private func body(of urls: [String]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let body = Body(
            urls: urls, queries: queries.isEmpty ? nil : queries, widths: widths.isEmpty ? nil : widths)
        return (try? encoder.encode(body)) ?? Data()
    }

    /// The bytes of a text as a string of JSON, or a few more.
    private static func jsonBytes(_ text: String) -> Int {
        text.utf8.reduce(2) { sum, byte in
            sum + (byte < 0x20 || byte == 0x7F ? 6 : byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1)
        }
    }

    /// Blanks, and the mark that some editors write at the beginning of a file.
    private static let ignored = CharacterSet.whitespaces.union(CharacterSet(charactersIn: "\u{FEFF}\r"))
}
