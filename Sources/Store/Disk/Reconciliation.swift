import Logging

/// Makes index and files agree, whatever a crash or a failing disk left: a slice at a time, so that writes and removals
/// get in between. It meets every file and every row once, but not those that come while it runs.
struct Reconciliation {
    /// How many folders of the second level are looked through at a time; a million entries have about 16 in each.
    private static let sliceFolders = 16

    private let directory: CacheDirectory
    /// The next source's first two bytes.
    private var position = 0
    /// The folders still to come that have the same first byte, last one first.
    private var folders: [Int] = []
    private var adopted = 0
    private var removedFiles = 0
    private var missing = 0

    init(_ directory: CacheDirectory) {
        self.directory = directory
    }

    /// Whether there is no slice left.
    var isDone: Bool { position > 0xFFFF }

    /// Looks through the next few folders and the rows that belong there.
    /// - Returns: what changed in the sums.
    mutating func runSlice(_ index: DiskIndex) throws(StorageFault) -> StoreTotals {
        if position & 0xFF == 0 { listFolders(ofFirstByte: position >> 8) }
        let slice = folders.suffix(Self.sliceFolders)
        let end = slice.count < folders.count ? (slice.first ?? position) + 1 : (position | 0xFF) + 1
        var records = try index.sizes(ofSourcesBeginningWith: position..<end)
        let found = adoptable(in: slice.reversed(), &records)
        let gone = records.keys.filter { Files.kind(of: directory.file(of: $0)) == .nothing }
        folders.removeLast(slice.count)
        position = end
        if found.isEmpty && gone.isEmpty { return StoreTotals() }
        let change = try index.apply(puts: found, deletes: gone)
        adopted += found.count
        missing += gone.count
        return change
    }

    /// Says what had to be done.
    func report(to logger: Logger) {
        for (message, count) in [
            ("took files back into the index", adopted), ("removed files that are no entries", removedFiles),
            ("forgot entries whose files are missing", missing),
        ] where count > 0 {
            logger.warning("disk cache: \(message)", metadata: ["count": "\(count)"])
        }
    }

    private mutating func listFolders(ofFirstByte byte: Int) {
        folders = []
        for (name, path) in contents(of: folder(ofFirstByte: byte)) {
            if let second = Int(name, radix: 16), name == hexDigits(second) {
                folders.append(byte << 8 | second)
            } else {
                remove(path)
            }
        }
        folders.sort(by: >)
    }

    /// The records of the files in these folders that have none; strikes off the records of those that have one.
    private mutating func adoptable(
        in folders: some Sequence<Int>, _ records: inout [EntryKey: Int]
    ) -> [EntryRecord] {
        var found: [EntryRecord] = []
        for number in folders {
            let digits = hexDigits(number >> 8) + hexDigits(number & 0xFF)
            for (name, path) in contents(of: "\(folder(ofFirstByte: number >> 8))/\(hexDigits(number & 0xFF))") {
                guard let source = StoreKey(hex: name), name.hasPrefix(digits) else {
                    remove(path)
                    continue
                }
                for (name, path) in contents(of: path) {
                    let key = StoreKey(hex: name).map { EntryKey(source: source, entry: $0) }
                    if let record = adoptable(key, path, &records) { found.append(record) }
                }
            }
        }
        return found
    }

    /// The record of a file that has none; removes what is no entry.
    private mutating func adoptable(
        _ key: EntryKey?, _ path: String, _ records: inout [EntryKey: Int]
    ) -> EntryRecord? {
        let known = key.flatMap { records.removeValue(forKey: $0) }
        if let known, Files.kind(of: path) == .file(byteCount: known) { return nil }
        guard let record = EntryRecord(readingHeadOf: path), record.key == key else {
            remove(path)
            // Its row goes too.
            if let key { records[key] = known }
            return nil
        }
        return record
    }

    private func folder(ofFirstByte byte: Int) -> String { "\(directory.entries)/\(hexDigits(byte))" }

    private func hexDigits(_ byte: Int) -> String { StoreKey.hexDigits(of: UInt8(truncatingIfNeeded: byte)) }

    /// The names in a folder with their paths; what stands in the folder's place is removed.
    private mutating func contents(of folder: String) -> [(name: String, path: String)] {
        switch Files.kind(of: folder) {
        case .folder: return (Files.names(in: folder) ?? []).map { ($0, "\(folder)/\($0)") }
        case .file, .other: remove(folder)
        case .nothing: break
        }
        return []
    }

    private mutating func remove(_ path: String) {
        try? Files.remove(path)
        removedFiles += 1
    }
}
