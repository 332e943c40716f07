extension DiskStore {
    /// From when on an entry's age is counted.
    public enum Expiry: String, CaseIterable, Sendable {
        /// From its last use, or from when it was last written.
        case access
        /// From when it was last written.
        case modification
        /// From when its key was first written; later writes change nothing, unless it was removed in between.
        case creation
    }

    /// How a disk store is set up.
    public struct Configuration: Sendable {
        /// The cache directory's path. It is created if missing; other files in it are left alone.
        public var directory: String
        /// The budget of all files together, in bytes. At 0 nothing is kept and the directory isn't touched.
        public var budgetBytes = 10 << 30
        /// How many bytes may wait to be written. One larger entry is taken when nothing else waits.
        public var queuedBytes = 64 << 20
        /// How many entries may wait to be written.
        public var queuedEntries = 1024
        /// How many threads read, at least 1.
        public var readers = 4
        /// The age from which on an entry is no longer found; nil for none.
        public var maxAge: Duration?
        /// From when on the age is counted.
        public var expiry = Expiry.access

        /// The default set-up in this directory.
        public init(directory: String) {
            self.directory = directory
        }
    }
}
