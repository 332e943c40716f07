import Foundation
import Logging

/// What the parts of a disk store share. ``DiskStore/init(_:logger:now:uptime:freeFraction:)`` describes the functions.
struct DiskEnvironment: Sendable {
    let configuration: DiskStore.Configuration
    let logger: Logger
    let now: @Sendable () -> Date
    let uptime: @Sendable () -> Duration
    let freeFraction: @Sendable (_ path: String) -> Double?
    let outages: OutageLog
    let state = DiskState()
}

/// Holds the cache directory: takes its lock, opens the index, and opens it again after the directory was deleted or
/// replaced or its index proved corrupt.
///
/// Belongs to the writer's thread. Readers get the current opening through ``DiskState/directory``.
final class CacheDirectory {
    let layout: DiskLayout
    let environment: DiskEnvironment
    var state: DiskState { environment.state }
    var outages: OutageLog { environment.outages }
    private var lock: DirectoryLock?
    private(set) var current: OpenDirectory?
    private(set) var isIndexCorrupt = false
    private(set) var isClosed = false
    /// The error of a write or removal that met a full volume. The caller clears it, makes space and tries again.
    var lackOfSpace: StorageError?
    /// Whether files were deleted whose rows the index still has.
    private var hasLostFiles = false
    /// The time at which the last opening was abandoned; time never runs backwards.
    private var lastTime: Int64 = 0

    /// Takes the lock and opens the index. On a full volume, leaves that to a later ``usable()``.
    init(_ environment: DiskEnvironment) throws(DiskStoreError) {
        let path = environment.configuration.directory
        layout = DiskLayout(path)
        self.environment = environment
        do {
            try openMakingSpace()
        } catch let error as DiskStoreError {
            throw error
        } catch let error as StorageError {
            guard isLackOfSpace(error) else { throw DiskStoreError(error, directory: path) }
            outages.begin(.space, ["error": "\(error)"])
        } catch {
            throw .unusable(directory: path, reason: String(describing: error))
        }
    }

    deinit {
        // The lock goes last, with its property: its next holder must not meet this index.
        current?.index.abandon()
    }

    /// Runs an operation whose failure costs cache entries, but never fails a request. After an operation that met a
    /// corrupt index, opens a new index and tries again, unless `retriesCorruption` is false.
    /// - Returns: nil if the operation failed.
    func attempt<Value>(
        retriesCorruption: Bool = true, _ operation: (OpenDirectory) throws(StorageError) -> Value
    ) -> Value? {
        guard let directory = usable() else { return nil }
        do {
            return try operation(directory)
        } catch {
            report(error, .writing, in: directory)
            return retriesCorruption && error.isCorruption ? attempt(retriesCorruption: false, operation) : nil
        }
    }

    /// The open directory, reopened if it was deleted or replaced or if its index is corrupt. Nil if that fails, and
    /// once the store is closed.
    func usable() -> OpenDirectory? {
        if isClosed { return nil }
        let isInPlace = lock?.isInPlace ?? false && current?.isInPlace ?? false
        if !isIndexCorrupt && isInPlace { return current }
        if current != nil && !isIndexCorrupt { outages.begin(.directory, ["directory": "\(layout.path)"]) }
        abandon()
        do {
            // Without the lock, the index belongs to another store, which has taken over the directory.
            if isIndexCorrupt, lock?.isInPlace == true { try layout.setIndexAside() }
            try openMakingSpace()
        } catch {
            let failure = error as? StorageError
            let reason = failure.map { "\(DiskStoreError($0, directory: layout.path))" } ?? "\(error)"
            outages.begin(failure.map(isLackOfSpace) ?? false ? .space : .directory, ["error": "\(reason)"])
            return nil
        }
        outages.end(.directory)
        return current
    }

    /// Records a failure, and logs it if it is new. A corrupt index is replaced before the next operation, and for a
    /// full volume see ``lackOfSpace``.
    func report(_ error: StorageError, _ outage: OutageLog.Outage, in directory: OpenDirectory) {
        if outage == .writing && isLackOfSpace(error) {
            lackOfSpace = error
            return
        }
        guard error.isCorruption else { return outages.begin(outage, ["error": "\(error)"]) }
        guard directory.index === current?.index else { return }
        isIndexCorrupt = true
        outages.begin(.index, ["reason": "\(error)"])
    }

    /// Replaces the folder of entries with an empty one.
    /// - Parameter aside: the new path of the old folder.
    func replaceEntries(movingThemTo aside: String, in directory: OpenDirectory) throws(StorageError) {
        try FileSystem.move(layout.entries, to: aside)
        defer {
            let directory = directory.identifiedAnew()
            current = directory
            state.directory = directory
        }
        try layout.makeFolders()
    }

    /// Ends all use of the directory: lookups miss and operations fail from here on.
    func beginClosing() {
        isClosed = true
        state.directory = nil
    }

    /// Closes the index and releases the lock. Readers that started before `beginClosing()` must have finished.
    func finishClosing() {
        // A corrupt index must not be marked as closed properly.
        if isIndexCorrupt { current?.index.abandon() } else { current?.index.close() }
        current = nil
        lock = nil
    }

    private func abandon() {
        guard let directory = current else { return }
        current = nil
        state.directory = nil
        lastTime = directory.index.clock.microseconds
        directory.index.abandon()
    }

    /// Whether a write failed because the volume is full, or the quota used up.
    func isLackOfSpace(_ error: StorageError) -> Bool {
        error.isLackOfSpace || !error.isCorruption && error.code == nil && layout.isVolumeFull
    }

    /// Opens the existing files. While the volume has no space for the index, deletes entries.
    private func openMakingSpace() throws {
        var limit = 64
        while true {
            do {
                return try open()
            } catch let error as StorageError {
                // Without the lock, the files may belong to another store.
                guard isLackOfSpace(error), lock != nil, layout.removeSomeFiles(limit: limit) else { throw error }
                if !hasLostFiles {
                    environment.logger.warning(
                        "disk cache: deleting entries to open the index: the volume is full",
                        metadata: ["error": "\(error)"])
                }
                hasLostFiles = true
                limit *= 2
            }
        }
    }

    /// Takes the lock, unless it is held, and opens the existing files.
    private func open() throws {
        try FileSystem.makeFolders(layout.path)
        if let reason = DirectoryPrivacy.refusal(of: layout.path) {
            throw DiskStoreError.notPrivate(directory: layout.path, reason: reason)
        }
        if lock?.isInPlace != true {
            lock = nil
            lock = try DirectoryLock(layout)
        }
        let directory = try OpenDirectory(
            layout, notBefore: lastTime, mustReconcile: hasLostFiles, environment)
        // If the directory was deleted meanwhile, another store may have it, and the log at this path may be its own.
        guard lock?.isInPlace == true else {
            directory.index.abandon()
            throw StorageError(operation: "open index", reason: "the directory was deleted", code: EWOULDBLOCK)
        }
        // Syncs the mark that the index is open. Without it, the index would count as closed properly after a power
        // failure that loses the whole log, and files without rows would not be found.
        try? directory.index.truncateLog()
        isIndexCorrupt = false
        hasLostFiles = false
        current = directory
        state.totals = directory.index.condition.totals
        state.directory = directory
    }
}

/// The check that only this user and the administrator can write to a cache directory: a file that is planted
/// there may be served as an image.
enum DirectoryPrivacy {
    /// Why the directory at this path is not used; completes a sentence that begins with the directory. Nil if it is
    /// private or can't be examined.
    static func refusal(of path: String) -> String? {
        var (status, parent) = (stat(), stat())
        guard lstat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFLNK {
            return "is a symbolic link: set the folder that it leads to"
        }
        guard lstat("\(path)/..", &parent) == 0 else { return "is not a folder" }
        return refusal(
            of: status, isMountPoint: status.st_dev != parent.st_dev, user: geteuid(), groups: ownGroups())
    }

    /// - Parameters:
    ///   - isMountPoint: whether a volume is mounted there, which only the administrator can do. Its owner and
    ///     permissions may be any: all users may write to the volumes that Kubernetes creates for a pod, and to
    ///     volumes in memory, but no other user is in the container.
    ///   - user: this process's user.
    ///   - groups: this process's groups, which may write to the directory: Kubernetes' `fsGroup`, or the group that
    ///     a user is alone in.
    static func refusal(of status: stat, isMountPoint: Bool, user: uid_t, groups: Set<gid_t>) -> String? {
        if isMountPoint { return nil }
        if status.st_uid != user && status.st_uid != 0 {
            return "belongs to another user (\(status.st_uid), not \(user)), who could replace images: "
                + "change its owner or set another folder"
        }
        if status.st_mode & S_IWOTH != 0 {
            return "can be written by all users, who could replace images: remove that permission (chmod o-w)"
        }
        if status.st_mode & S_IWGRP != 0 && !groups.contains(status.st_gid) {
            return "can be written by a group that this user is not in (\(status.st_gid)), which could replace images: "
                + "remove that permission (chmod g-w)"
        }
        return nil
    }

    private static func ownGroups() -> Set<gid_t> {
        let count = getgroups(0, nil)
        guard count > 0 else { return [getegid()] }
        var groups = [gid_t](repeating: 0, count: Int(count))
        return Set(groups.prefix(Int(max(0, getgroups(count, &groups))))).union([getegid()])
    }
}
