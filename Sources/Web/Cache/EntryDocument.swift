import DarkroomCache
import DarkroomPipeline
import DarkroomTransforms

/// A cached entry as JSON. Unknown values are omitted.
struct EntryDocument: Encodable {
    let entry: String
    let key: String
    let memory: Bool
    let disk: Bool
    /// Nil if the entry is not in a tier that several servers share.
    let shared: Bool?
    let bytes: Int?
    let ageSeconds: Double?
    let hits: Int?
    let format: String?

    init(_ entry: CachedEntry) {
        self.entry = entry.kind.rawValue
        key = entry.key
        memory = entry.tiers.contains(.memory)
        disk = entry.tiers.contains(.disk)
        shared = entry.tiers.contains(.shared) ? true : nil
        bytes = entry.bytes
        ageSeconds = entry.age?.inSeconds
        hits = entry.hits
        format = entry.format?.rawValue
    }
}
