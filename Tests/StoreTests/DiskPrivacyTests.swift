import DarkroomTestLogs
import Foundation
import Testing

@testable import DarkroomStore

/// Cache directories that others could write to, and other things in the place of the store's files.
@Suite struct DiskPrivacyTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private func refusal(opening name: String) async -> String? {
        do throws(DiskStoreError) {
            _ = try await fixture.open { $0.directory = fixture.folder(name) }
            return nil
        } catch {
            guard case .notPrivate(fixture.folder(name), let reason) = error else { return "another error: \(error)" }
            #expect(error.description == "the cache directory \(fixture.folder(name)) \(reason)")
            return reason
        }
    }

    private func expect(_ refusal: String?, beginsWith reason: String?) {
        if let reason {
            #expect(refusal?.hasPrefix(reason) == true, "\(refusal ?? "none")")
        } else {
            #expect(refusal == nil)
        }
    }

    private func makeFolder(_ name: String, permissions: Int) throws {
        try FileManager.default.createDirectory(atPath: fixture.folder(name), withIntermediateDirectories: true)
        // Not with the folder, whose permissions the umask limits.
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: fixture.folder(name))
    }

    @Test(arguments: ["cache", "cache/"])
    func `A symbolic link is refused, and its target is not touched`(name: String) async throws {
        try makeFolder("elsewhere", permissions: 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder("cache"), withDestinationPath: fixture.folder("elsewhere"))
        await #expect(throws: DiskStoreError.self) { try await fixture.open { $0.directory = fixture.folder(name) } }
        #expect(await refusal(opening: "cache")?.hasPrefix("is a symbolic link") == true)
        #expect(fixture.folder.files(below: "elsewhere") == [])
    }

    @Test func `A directory behind a linked parent is used`() async throws {
        try makeFolder("elsewhere", permissions: 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder("parent"), withDestinationPath: fixture.folder("elsewhere"))
        #expect(await refusal(opening: "parent/cache") == nil)
    }

    @Test(
        arguments: [
            (0o700, nil), (0o755, nil), (0o775, nil), (0o2770, nil), (0o777, "can be written by all users"),
            (0o702, "can be written by all users"), (0o1777, "can be written by all users"),
        ] as [(Int, String?)])
    func `A directory that all users may write to is refused; one for the own group is not`(
        permissions: Int, reason: String?
    ) async throws {
        try makeFolder("cache", permissions: permissions)
        let refusal = await refusal(opening: "cache")
        expect(refusal, beginsWith: reason)
    }

    /// A directory as `lstat` describes it.
    private func directory(owner: uid_t, group: gid_t = 30, permissions: mode_t) -> stat {
        var status = stat()
        (status.st_uid, status.st_gid, status.st_mode) = (owner, group, S_IFDIR | permissions)
        return status
    }

    @Test(
        arguments: [
            (10, 0o700, false, nil), (0, 0o755, false, nil), (11, 0o755, false, "belongs to another user (11, not 10)"),
            (11, 0o700, false, "belongs to another user (11, not 10)"),
            // The volumes of a Docker container, of a pod with and without fsGroup, and in memory.
            (11, 0o755, true, nil), (0, 0o2777, true, nil), (0, 0o777, true, nil),
            (0, 0o1777, true, nil), (0, 0o777, false, "can be written by all users"),
        ] as [(uid_t, mode_t, Bool, String?)])
    func `A directory of another user is refused unless a volume is mounted there`(
        owner: uid_t, permissions: mode_t, isMountPoint: Bool, reason: String?
    ) {
        let refusal = DirectoryPrivacy.refusal(
            of: directory(owner: owner, permissions: permissions), isMountPoint: isMountPoint, user: 10, groups: [30])
        expect(refusal, beginsWith: reason)
    }

    @Test func `A group may write to the directory if this process is in it`() {
        let shared = directory(owner: 10, group: 31, permissions: 0o2770)
        let refusal = DirectoryPrivacy.refusal(of: shared, isMountPoint: false, user: 10, groups: [30])
        #expect(refusal?.hasPrefix("can be written by a group that this user is not in (31)") == true)
        #expect(DirectoryPrivacy.refusal(of: shared, isMountPoint: false, user: 10, groups: [30, 31]) == nil)
    }

    @Test(.enabled(if: getuid() == 0)) func `A directory that belongs to another user is refused`() async throws {
        try makeFolder("cache", permissions: 0o700)
        try #require(chown(fixture.folder("cache"), 12_345, 12_345) == 0)
        #expect(await refusal(opening: "cache")?.hasPrefix("belongs to another user (12345, not 0)") == true)
    }

    @Test(.enabled(if: Volume.isMountable)) func `A volume that belongs to another user is used`() async throws {
        let volume = try Volume(bytes: 4 << 20)
        try #require(chown(volume.path, 12_345, 12_345) == 0 && chmod(volume.path, 0o2777) == 0)
        let store = try await fixture.open { $0.directory = volume.path }
        #expect(await store.storeAndWait(entry(), for: key(1)))
        await store.close()
    }

    @Test func `A link in the place of a directory that was deleted is refused until it is gone`() async throws {
        let store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        #expect(await store.storeAndWait(entry(), for: key(1)))
        try makeFolder("elsewhere", permissions: 0o700)
        let (cache, elsewhere) = (fixture.folder("cache"), fixture.folder("elsewhere"))
        // The store may be quicker to make the directory again, any number of times.
        repeat {
            try? fixture.folder.remove("cache")
        } while (try? FileManager.default.createSymbolicLink(atPath: cache, withDestinationPath: elsewhere)) == nil
        #expect(await !store.storeAndWait(entry(), for: key(2)))
        #expect(!store.isHealthy())
        #expect(fixture.folder.files(below: "elsewhere") == [])
        try FileManager.default.removeItem(atPath: cache)
        #expect(await store.storeAndWait(entry(), for: key(2)))
        #expect(fixture.folder.files(below: "elsewhere") == [])
        await store.close()
    }

    @Test(arguments: ["a pipe", "a device", "a link", "a folder"])
    func `A lock that is not a regular file is refused at once`(kind: String) async throws {
        try makeFolder("cache", permissions: 0o700)
        guard try plant(kind, at: "cache/lock") else { return }
        let error = await #expect(throws: DiskStoreError.self) {
            try await fixture.open { $0.directory = fixture.folder("cache") }
        }
        guard case .unusable(_, let reason) = error else {
            Issue.record("not refused as unusable: \(String(describing: error))")
            return
        }
        #expect(reason.contains(kind == "a folder" ? "Is a directory" : "lock is not a regular file; remove it"))
    }

    @Test(arguments: ["", "-wal", "-shm", "-journal"], ["a pipe", "a device", "a link"])
    func `An index that is not made of regular files is rebuilt from the files of entries`(
        suffix: String, kind: String
    ) async throws {
        var store = try await fixture.open { $0.directory = fixture.folder("cache") }
        for number in 1...9 { store.store(entry(), for: key(number)) }
        await store.close()
        try? fixture.folder.remove("cache/index.sqlite" + suffix)
        try fixture.folder.write(Data([1, 2, 3]), to: "target")
        guard try plant(kind, at: "cache/index.sqlite" + suffix) else { return }
        store = try await fixture.openHealed { $0.directory = fixture.folder("cache") }
        for number in 1...9 { #expect(await store.entry(for: key(number)) == entry()) }
        #expect(try fixture.folder.bytes("target") == Data([1, 2, 3]))
        await store.close()
    }

    /// - Returns: false if this user may not make such a file.
    private func plant(_ kind: String, at name: String) throws -> Bool {
        let path = fixture.folder(name)
        switch kind {
        case "a pipe": try #require(mkfifo(path, 0o600) == 0)
        // Another null device.
        case "a device": return mknod(path, S_IFCHR | 0o600, 0x0103) == 0
        case "a folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: fixture.folder("target"))
        }
        return true
    }
}
