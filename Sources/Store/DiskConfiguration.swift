extension DiskStore {
    /// The time from which the age of an entry counts.
    public enum Expiry: String, CaseIterable, Sendable {
        /// The last use, or the last write if that is later.
        case access
        /// The last write.
        case modification
        /// The first write for the key; later writes don't change it, unless the entry was removed in between.
        case creation
    }

    /// The configuration of a disk store.
    public struct Configuration: Sendable {
        /// The path of the cache directory. It is created if missing; other files in it are left alone.
        public var directory: String
        /// The byte budget for all files together, 10 GiB by default. With 0 the store is disabled: it stays empty and
        /// doesn't touch the directory.
        public var budgetBytes = 10 << 30
        /// The limit of bytes that wait to be written, 64 MiB by default. A larger entry is taken when nothing else
        /// waits.
        public var queuedBytes = 64 << 20
        /// The limit of entries that wait to be written, 1024 by default.
        public var queuedEntries = 1024
        /// The number of threads that read, 4 by default and at least 1.
        public var readers = 4
        /// The age at which an entry expires; nil, the default, = never.
        public var maxAge: Duration?
        /// The time from which the age counts, by default the last use.
        public var expiry = Expiry.access

        /// The default configuration for this directory.
        public init(directory: String) {
            self.directory = directory
        }
    }
}
