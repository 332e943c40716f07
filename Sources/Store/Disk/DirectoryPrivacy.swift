import Foundation

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
