import Logging

/// Makes index and files agree after a crash or a disk failure, a slice at a time, so that writes and removals run in
/// between. Visits every file and every row once, except for those that are added while it runs.
struct Reconciliation {
    /// The number of second-level folders in a slice. With a million entries, each has about 16.
    private static let sliceFolders = 16

    private let layout: DiskLayout
    /// The first two bytes of the next source.
    private var position = 0
    /// The remaining folders with the same first byte, last one first.
    private var folders: [Int] = []
    private var adopted = 0
    private var removedFiles = 0
    private var missing = 0

    init(_ layout: DiskLayout) {
        self.layout = layout
    }

    /// Whether there is no slice left.
    var isDone: Bool { position > 0xFFFF }

    /// Compares the next folders with their rows.
    /// - Returns: the change of the totals.
    mutating func runSlice(_ index: DiskIndex) throws(StorageError) -> StoreTotals {
        if position & 0xFF == 0 { listFolders(ofFirstByte: position >> 8) }
        let slice = folders.suffix(Self.sliceFolders)
        let end = slice.count < folders.count ? (slice.first ?? position) + 1 : (position | 0xFF) + 1
        var records = try index.sizes(ofSourcesBeginningWith: position..<end)
        let found = adoptable(in: slice.reversed(), &records)
        let gone = records.keys.filter { FileSystem.kind(of: layout.file(of: $0)) == .nothing }
        folders.removeLast(slice.count)
        position = end
        if found.isEmpty && gone.isEmpty { return StoreTotals() }
        let change = try index.apply(puts: found, deletes: gone)
        adopted += found.count
        missing += gone.count
        return change
    }

    /// Logs what was repaired.
    func log(to logger: Logger) {
        for (message, count) in [
            ("adopted files without a row in the index", adopted), ("removed files that are not entries", removedFiles),
            ("removed rows without a file from the index", missing),
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

    /// The records of the files in these folders that have no row; removes from `records` the rows that have their
    /// file.
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

    /// The record of a file without a row; removes files that are not entries.
    private mutating func adoptable(
        _ key: EntryKey?, _ path: String, _ records: inout [EntryKey: Int]
    ) -> EntryRecord? {
        let known = key.flatMap { records.removeValue(forKey: $0) }
        if let known, FileSystem.kind(of: path) == .file(byteCount: known) { return nil }
        guard let record = EntryRecord(readingHeaderOf: path), record.key == key else {
            remove(path)
            // Its row goes too.
            if let key { records[key] = known }
            return nil
        }
        return record
    }

    private func folder(ofFirstByte byte: Int) -> String { "\(layout.entries)/\(hexDigits(byte))" }

    private func hexDigits(_ byte: Int) -> String { StoreKey.hexDigits(of: UInt8(truncatingIfNeeded: byte)) }

    /// The names in a folder with their paths; removes a file in the place of the folder.
    private mutating func contents(of folder: String) -> [(name: String, path: String)] {
        switch FileSystem.kind(of: folder) {
        case .folder: return (FileSystem.names(in: folder) ?? []).map { ($0, "\(folder)/\($0)") }
        case .file, .other: remove(folder)
        case .nothing: break
        }
        return []
    }

    private mutating func remove(_ path: String) {
        try? FileSystem.remove(path)
        removedFiles += 1
    }
}
