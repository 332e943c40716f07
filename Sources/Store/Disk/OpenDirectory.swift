import Logging
import Synchronization

/// A cache directory in use: its index, and what tells whether it is still the directory that was opened.
final class OpenDirectory: Sendable {
    let index: DiskIndex
    /// Whether index and files may differ.
    let isReconciliationDue: Bool
    private let directory: CacheDirectory
    private let identities: Mutex<[Files.Identity?]>

    /// Creates what is missing and opens the index: an empty one if that which is there can't be
    /// used. Takes the same time however much is in it. Throws only if no new index can be made either.
    init(
        _ directory: CacheDirectory, readers: Int, notBefore time: Int64, environment: DiskEnvironment, outages: Outages
    ) throws(StorageFault) {
        self.directory = directory
        let hadEntries = Files.kind(of: directory.entries) == .folder
        try directory.makeFolders()
        if !hadEntries && Files.kind(of: directory.index) != .nothing {
            environment.logger.warning("disk cache: starting empty, for the folder of entries is missing")
            try directory.setIndexAside()
        }
        func openIndex() throws(StorageFault) -> DiskIndex {
            if [.folder, .other].contains(Files.kind(of: directory.index)) {
                throw StorageFault(operation: "open index", reason: "not a regular file", isDamage: true)
            }
            return try DiskIndex(path: directory.index, readers: readers) { last in
                StoreClock(now: environment.now(), last: max(time, last), uptime: environment.uptime)
            }
        }
        do {
            index = try openIndex()
        } catch  where error.isDamage {
            outages.begin(.index, ["reason": "\(error)"])
            try directory.setIndexAside()
            index = try openIndex()
        }
        isReconciliationDue = index.condition.isReconciliationDue
        identities = Mutex(Self.identities(in: directory))
    }

    /// Whether folder and index are still the ones that were opened, and not deleted or replaced below us.
    var isInPlace: Bool {
        identities.withLock { $0 == Self.identities(in: directory) }
    }

    /// Takes what is in place now for that which was opened, after we put it there.
    func identifyAnew() {
        identities.withLock { $0 = Self.identities(in: directory) }
    }

    private static func identities(in directory: CacheDirectory) -> [Files.Identity?] {
        [Files.identity(of: directory.entries), Files.identity(of: directory.index)]
    }
}
