/// The labels of an entry, encoded as in its file and its row: for each label, its length in two bytes, big-endian, and
/// its UTF-8.
struct EntryLabels: Hashable, Sendable {
    /// The maximum length of the encoded labels.
    static let maximumBytes = StoredEntry.maximumLabels * (2 + StoredEntry.maximumLabelBytes)
    /// A length that few entries exceed.
    static let usualBytes = 4096 - EntryHeader.fixedBytes

    static let none = EntryLabels()

    let bytes: [UInt8]
    let strings: [String]

    private init() { (bytes, strings) = ([], []) }

    /// Encodes labels without duplicates; nil if there are too many labels or a label is too long.
    init?(_ labels: [String]) {
        guard labels.count <= StoredEntry.maximumLabels else { return nil }
        var bytes: [UInt8] = []
        var strings: [String] = []
        var seen: Set<[UInt8]> = []
        for label in labels {
            let utf8 = Array(label.utf8)
            guard utf8.count <= StoredEntry.maximumLabelBytes else { return nil }
            guard seen.insert(utf8).inserted else { continue }
            bytes.append(UInt8(utf8.count >> 8))
            bytes.append(UInt8(utf8.count & 0xFF))
            bytes.append(contentsOf: utf8)
            strings.append(label)
        }
        (self.bytes, self.strings) = (bytes, strings)
    }

    /// Labels in encoded form; nil if the bytes are malformed.
    init?(bytes: [UInt8]) {
        guard bytes.count <= Self.maximumBytes else { return nil }
        var strings: [String] = []
        var rest = bytes[...]
        while let high = rest.popFirst() {
            guard let low = rest.popFirst() else { return nil }
            let count = Int(high) << 8 | Int(low)
            guard count <= min(rest.count, StoredEntry.maximumLabelBytes),
                let label = String(validating: rest.prefix(count), as: UTF8.self)
            else { return nil }
            strings.append(label)
            rest = rest.dropFirst(count)
        }
        guard strings.count <= StoredEntry.maximumLabels else { return nil }
        (self.bytes, self.strings) = (bytes, strings)
    }
}
