/// Remembers which keys came lately, so that a full table is not changed for keys that come once: most of them never
/// come again, and each would cost the table another value.
///
/// Each key has one place, where the next key of the same place replaces it. A key is therefore remembered until about
/// as many others have come as there are places, and one in 32,768 is taken for another.
@usableFromInline package struct Doorkeeper: Sendable {
    @usableFromInline var tags: [UInt16]

    /// - Parameter places: about how many keys are remembered, at least 1; two bytes each.
    @inlinable package init(places: Int) { tags = Array(repeating: 0, count: max(1, places)) }

    /// Whether a key came lately; remembers it in any case.
    ///
    /// - Parameter hash: of the key, all bits of which vary.
    @inlinable package mutating func knows(_ hash: UInt64) -> Bool {
        let place = Int(hash % UInt64(tags.count))
        // Never 0, which stands for no key.
        let tag = UInt16(truncatingIfNeeded: hash >> 48) | 1
        defer { tags[place] = tag }
        return tags[place] == tag
    }
}
