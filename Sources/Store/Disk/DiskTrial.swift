import NIOCore

// Finding out whether the volume works again.
extension DiskEntries {
    /// Larger than most entries, so that what lets it through lets them through.
    private static let trialBytes = 1 << 20
    private static let trialKey = EntryKey(
        source: StoreKey(hashing: "trial".utf8), entry: StoreKey(hashing: "entry".utf8))

    /// Writes an entry of zeros, reads it and removes it, which ends the outages that are over.
    func tryAgain() {
        let body = ByteBuffer(repeating: 0, count: min(Self.trialBytes, configuration.budgetBytes / 4))
        let entry = StoredEntry(body: body)
        let write = EntryWrite(
            key: Self.trialKey, entry: entry, labels: .none, fileBytes: EntryHead.fileBytes(of: entry, .none)
        ) { _ in }
        guard self.write([write]) == [true] else { return }
        _ = look(for: Self.trialKey)
        _ = remove(.entry(Self.trialKey))
    }
}
