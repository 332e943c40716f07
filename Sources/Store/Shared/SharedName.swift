/// The names of objects in the shared tier, below the folder.
///
///     1/s/<source>/r-<order>-<digest>   a record of the source, named so that the newest is listed first
///     1/s/<source>/r-<order>-0          a removal of the source at that moment
///     1/s/<source>/o-<content>          the original with this content
///     1/s/<source>/v-<variant>          a variant
///     1/p/<time>-<number>-<kind>        a purge, named so that they are listed in the order of their times
///     1/f/<time>-<number>-l             a summary of the purges until a time
///
/// Records are never overwritten. Regardless of which node writes last, the newest record takes precedence.
enum SharedName {
    /// Changes with the layout and the format of objects, so that servers of different releases ignore each other's
    /// objects.
    private static let revision = "1"

    /// The beginning of the names of all sources' objects.
    static let sources = "\(revision)/s/"
    /// The beginning of the names of all purges.
    static let purges = "\(revision)/p/"
    /// The beginning of the names of all summaries of purges.
    static let summaries = "\(revision)/f/"

    /// The beginning of the names of all objects of a source.
    static func source(_ source: StoreKey) -> String { "\(sources)\(source.hex)/" }

    static func records(of source: StoreKey) -> String { self.source(source) + "r-" }

    static func record(of source: StoreKey, _ version: RecordVersion) -> String {
        "\(records(of: source))\(version.text)"
    }

    static func original(of source: StoreKey, content: StoreKey) -> String { "\(self.source(source))o-\(content.hex)" }

    static func variant(_ key: EntryKey) -> String { "\(source(key.source))v-\(key.entry.hex)" }
}

/// Which of a source's records an object is.
struct RecordVersion: Hashable, Sendable {
    /// When the origin confirmed the record, or when the source was removed; see ``SharedRecord/order``.
    let order: Int64
    /// Distinguishes records of the same moment; nil for a removal, which precedes them.
    let digest: UInt64?

    init(order: Int64, digest: UInt64?) {
        self.order = max(order, 0)
        self.digest = digest
    }

    /// The end of a name.
    fileprivate init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, let rest = Int64(parts[0], radix: 16), rest >= 0 else {
            return nil
        }
        order = Int64.max - rest
        guard parts[1] != "0" else {
            digest = nil
            return
        }
        guard parts[1].utf8.count == 16, let digest = UInt64(parts[1], radix: 16) else { return nil }
        self.digest = digest
    }

    init?(ofRecordNamed name: String, of source: StoreKey) {
        let beginning = SharedName.records(of: source)
        guard name.hasPrefix(beginning) else { return nil }
        self.init(name.dropFirst(beginning.count))
    }

    /// Later orders come first in listings.
    fileprivate var text: String {
        "\(Self.digits(UInt64(Int64.max - order)))-\(digest.map(Self.digits) ?? "0")"
    }

    static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
