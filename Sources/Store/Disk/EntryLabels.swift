/// The labels of an entry, encoded as in its file and its row: for each label, its length in two bytes, big-endian, and
/// its UTF-8.
struct EntryLabels: Hashable, Sendable {
    /// The maximum length of the encoded labels.
    static let maximumBytes = StoredEntry.maximumLabels * (2 + StoredEntry.maximumLabelBytes)
    /// A length that few entries exceed.
    static let usualBytes = 4096 - EntryHeader.fixedBytes

    static let none = EntryLabels()

    let bytes: [UInt8]

    private init() { bytes = [] }

    /// Encodes labels without duplicates; nil if there are too many labels or a label is too long.
    init?(_ labels: [String]) {
        guard labels.count <= StoredEntry.maximumLabels else { return nil }
        var bytes: [UInt8] = []
        var seen: Set<[UInt8]> = []
        for label in labels {
            let utf8 = Array(label.utf8)
            guard utf8.count <= StoredEntry.maximumLabelBytes else { return nil }
            guard seen.insert(utf8).inserted else { continue }
            bytes.append(UInt8(utf8.count >> 8))
            bytes.append(UInt8(utf8.count & 0xFF))
            bytes.append(contentsOf: utf8)
        }
        self.bytes = bytes
    }

    /// Labels in encoded form; nil if the bytes are malformed.
    init?(bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count <= Self.maximumBytes, let labels = Self.split(bytes) else { return nil }
        let areValid = labels.allSatisfy {
            $0.count <= StoredEntry.maximumLabelBytes && String(validating: $0, as: UTF8.self) != nil
        }
        guard areValid, labels.count <= StoredEntry.maximumLabels else { return nil }
    }

    /// The UTF-8 of each label.
    var utf8: [ArraySlice<UInt8>] { Self.split(bytes) ?? [] }

    var strings: [String] { utf8.map { String(decoding: $0, as: UTF8.self) } }

    private static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        var labels: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard rest.count >= count else { return nil }
            labels.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return labels
    }
}
