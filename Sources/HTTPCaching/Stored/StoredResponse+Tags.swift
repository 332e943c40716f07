import DarkroomNetwork
import HTTPTypes

extension StoredResponse {
    /// What the origin calls this response's topics, for purging: the members of `Surrogate-Key`, with spaces between,
    /// and of `Cache-Tag`, with commas between. Each once, in the order they stand in; at most 128, of at most 256 bytes,
    /// and 8 KiB in all: they are kept beside every picture, however small.
    public var tags: [String] {
        var tags: [String] = []
        var seen: Set<Substring> = []
        var room = Self.maxTotalBytes
        func note(_ members: [Substring]) {
            for tag in members where tags.count < Self.maxTags && tag.utf8.count <= min(Self.maxTagBytes, room) {
                guard seen.insert(tag).inserted else { continue }
                tags.append(String(tag))
                room -= tag.utf8.count
            }
        }
        // Line by line: joined they would have commas between, which are part of a key here.
        for line in fields[values: .surrogateKey] {
            note(line.utf8.split(whereSeparator: \.isBlank).map(Substring.init))
        }
        note(Self.members(of: fields[.cacheTag]) ?? [])
        return tags
    }

    private static let maxTags = 128
    private static let maxTagBytes = 256
    private static let maxTotalBytes = 8 << 10
}
