import Logging

/// What a disk store does before it opens: makes index and files agree, whatever a crash or a failing disk left.
struct DiskHealing {
    let directory: CacheDirectory
    let readers: Int
    let logger: Logger

    /// The index of the directory, healed. Throws only if no new index can be made either.
    func healedIndex() throws(StorageFault) -> DiskIndex {
        removeTemporaryFiles()
        do {
            return try openAndReconcile()
        } catch {
            logger.warning("disk cache: making the index again from the files", metadata: ["reason": "\(error)"])
        }
        try directory.setIndexAside()
        return try openAndReconcile()
    }

    private func removeTemporaryFiles() {
        let leftovers = (Files.names(in: directory.temporary) ?? []).filter { $0.hasSuffix(".partial") }
        for name in leftovers {
            try? Files.remove("\(directory.temporary)/\(name)")
        }
        report("removed unfinished files", leftovers.count)
    }

    private func openAndReconcile() throws(StorageFault) -> DiskIndex {
        let index = try DiskIndex(path: directory.index, readers: readers)
        var changes = Changes()
        do {
            // A 256th of the keys at a time, so that a large cache needs little memory to be looked through.
            for byte in UInt8.min ... .max {
                try reconcile(index, sourcesBeginningWith: byte, &changes)
            }
        } catch {
            index.close()
            throw error
        }
        report("took files back into the index", changes.adopted)
        report("removed files that are no entries", changes.removedFiles)
        report("forgot entries whose files are missing", changes.missing)
        return index
    }

    /// What had to be done.
    private struct Changes {
        var adopted = 0
        var removedFiles = 0
        var missing = 0
    }

    private func reconcile(
        _ index: DiskIndex, sourcesBeginningWith byte: UInt8, _ changes: inout Changes
    ) throws(StorageFault) {
        var records = try index.sizes(ofSourcesBeginningWith: byte)
        var adopted: [EntryRecord] = []
        visitFiles(ofSourcesBeginningWith: byte) { key, path in
            if let key, let size = records[key], Files.kind(of: path) == .file(byteCount: size) {
                records[key] = nil
            } else if let record = EntryRecord(readingHeaderOf: path), record.key == key {
                records[record.key] = nil
                adopted.append(record)
            } else {
                try? Files.remove(path)
                changes.removedFiles += 1
            }
        }
        if records.isEmpty && adopted.isEmpty { return }
        try index.apply(puts: adopted, deletes: Array(records.keys))
        changes.adopted += adopted.count
        changes.missing += records.count
    }

    /// Calls `visit` with each path that an entry may have, and with anything else found on the way, without a key.
    private func visitFiles(
        ofSourcesBeginningWith byte: UInt8, _ visit: (_ key: EntryKey?, _ path: String) -> Void
    ) {
        let first = StoreKey.hexDigits(of: byte)
        func strange(_ path: String) { visit(nil, path) }
        forEach(in: "\(directory.entries)/\(first)", orElse: strange) { second, path in
            forEach(in: path, orElse: strange) { name, path in
                guard let source = StoreKey(hex: name), second.utf8.count == 2, name.hasPrefix(first + second) else {
                    return strange(path)
                }
                forEach(in: path, orElse: strange) { name, path in
                    visit(StoreKey(hex: name).map { EntryKey(source: source, entry: $0) }, path)
                }
            }
        }
    }

    /// Calls `body` for what is in a folder, or `strange` if the path stands for something else.
    private func forEach(
        in folder: String, orElse strange: (_ path: String) -> Void, _ body: (_ name: String, _ path: String) -> Void
    ) {
        switch Files.kind(of: folder) {
        case .folder:
            for name in Files.names(in: folder) ?? [] { body(name, "\(folder)/\(name)") }
        case .file, .other: strange(folder)
        case .nothing: break
        }
    }

    private func report(_ message: Logger.Message, _ count: Int) {
        if count == 0 { return }
        logger.warning("disk cache: \(message)", metadata: ["count": "\(count)"])
    }
}
