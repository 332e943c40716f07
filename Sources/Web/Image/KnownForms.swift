import DarkroomEviction
import DarkroomHTTPServer
import DarkroomQuery
import DarkroomRequests
import Synchronization

/// The meanings of queries apart from their sources, within a byte budget: sites ask for many images in few forms, so
/// that an unknown target often differs from others in its source alone.
final class KnownForms: Sendable {
    private let table: Mutex<SieveTable<[UInt8], ImageQuery>>

    init(budgetBytes: Int = 1 << 20) {
        table = Mutex(SieveTable(budgetBytes: budgetBytes))
    }

    /// What a query means, by another that differs in the source alone, or as read.
    ///
    /// - Parameter grammar: always the same.
    func query(_ text: QueryString, _ grammar: ImageQueryGrammar) throws(InvalidParameter) -> ImageQuery {
        // In other dialects, the source may have other forms too.
        guard Dialect.of(text, standard: grammar.dialect) == .darkroom,
            let source = text.pairs.first(where: { $0.name == "url" })?.value, !source.isEmpty
        else { return try grammar.parse(text) }
        let key = Self.key(of: text)
        if var known = table.withLock({ $0.value(for: key) }) {
            known.url = source
            return known
        }
        let query = try grammar.parse(text)
        let freed = table.withLock { $0.insert(query, cost: key.count + KnownTarget.formCost(of: query), for: key) }
        _ = consume freed
        return query
    }

    /// The bytes of all pairs in their order, without the first source. Bytes that UTF-8 lacks separate them.
    private static func key(of text: QueryString) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(128)
        var hasSource = false
        for pair in text.pairs {
            key.append(contentsOf: pair.name.utf8)
            key.append(0xFE)
            if !hasSource, pair.name == "url" {
                hasSource = true
            } else if let value = pair.value {
                key.append(0xFD)
                key.append(contentsOf: value.utf8)
            }
            key.append(0xFF)
        }
        return key
    }
}
