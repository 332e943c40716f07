import DarkroomStore
import NIOCore

/// A cache of files on disk by name. Files without recent use give way to new ones.
struct FileCache {
    let store: DiskStore

    init(folder: String) async throws {
        store = try await DiskStore(DiskStore.Configuration(directory: folder))
    }

    func file(_ name: String) async -> ByteBuffer? {
        await store.entry(for: key(name))?.body
    }

    func keep(_ file: ByteBuffer, as name: String) async -> Bool {
        await store.storeAndWait(StoredEntry(body: file), for: key(name))
    }

    private func key(_ name: String) -> EntryKey {
        let hash = StoreKey(hashing: name.utf8)
        return EntryKey(source: hash, entry: hash)
    }
}
