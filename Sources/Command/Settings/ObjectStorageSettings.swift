import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomStore

struct ObjectStorageSettings: SettingTheme {
    let title = "Object storage"

    let endpoint = Setting(
        "s3-endpoint", .optional(.webURL), default: nil, shownAs: "Amazon S3 in s3-region",
        help: """
            URL of the S3-compatible store. Credentials are found as the AWS tools find them: in the environment, in \
            the shared credentials file, or from the container or instance.
            """)
    let region = Setting(
        "s3-region", .region, default: "us-east-1",
        help: "Region that requests to the store are signed for.")
    let pathStyle = Setting(
        "s3-path-style", .optional(.boolean), default: nil, shownAs: "true with s3-endpoint, else false",
        help: "Whether requests name the bucket in the path of the URL (true) or in its host (false).")
    let sharedStore = Setting(
        "shared-store", .optional(.storeFolder), default: nil,
        help: """
            Folder of an object store that several servers share as a cache tier. A purge of one server reaches the \
            others through it.
            """)
    let sharedStoreTimeout = Setting(
        "shared-store-timeout", .duration(), default: shared.timeout,
        help: "Maximum time of a lookup in shared-store. After it, the request continues as a miss.")
    let sharedStoreOriginals = Setting(
        "shared-store-originals", .boolean, default: shared.storesOriginals,
        help: "Whether to store originals in shared-store, in addition to variants.")
    let purgePoll = Setting(
        "purge-poll", .duration(), default: shared.purgeInterval,
        help: "Interval at which each server reads the purges of other servers from shared-store.")

    private static let shared = SharedStoreConfiguration()
}

struct StoreFolderName: Hashable, Sendable {
    let bucket: BucketName
    /// Without slashes at both ends; empty for the whole bucket.
    let folder: String
}

extension SettingKind where Value == StoreFolderName {
    /// `s3://bucket` or `s3://bucket/folder`.
    fileprivate static var storeFolder: SettingKind {
        SettingKind("s3://BUCKET/FOLDER", "s3:// with a bucket and a folder such as s3://media/darkroom") { name in
            name.folder.isEmpty ? "s3://\(name.bucket)" : "s3://\(name.bucket)/\(name.folder)"
        } parse: { text in
            guard text.hasPrefix("s3://"), text.utf8.count <= 512, !text.utf8.contains(0) else { return nil }
            let parts = text.dropFirst(5).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let bucket = try? BucketName(String(parts[0])) else { return nil }
            var folder = parts.count > 1 ? parts[1] : ""
            if folder.hasSuffix("/") { folder = folder.dropLast() }
            let segments = folder.split(separator: "/", omittingEmptySubsequences: false)
            guard folder.isEmpty || !segments.contains("") else { return nil }
            return StoreFolderName(bucket: bucket, folder: String(folder))
        }
    }
}

extension SettingKind where Value == String {
    static var region: SettingKind {
        SettingKind("REGION", "1 to 64 lower-case letters, digits and '-', such as eu-central-1", format: \.self) {
            $0.wholeMatch(of: /[a-z0-9-]{1,64}/) == nil ? nil : $0
        }
    }
}

extension Settings {
    var sharedStoreConfiguration: SharedStoreConfiguration {
        var configuration = SharedStoreConfiguration()
        configuration.timeout = self.objectStorage.sharedStoreTimeout
        configuration.storesOriginals = self.objectStorage.sharedStoreOriginals
        configuration.purgeInterval = self.objectStorage.purgePoll
        if let maxAge = self.cache.maxAge { configuration.maxAge = maxAge }
        return configuration
    }

    /// How to reach the store of `s3-endpoint`.
    var objectStore: ObjectStoreSettings {
        get throws(SettingError) {
            let settings = self.objectStorage
            do throws(ObjectStorageError) {
                let amazon = try ObjectStoreEndpoint(amazonRegion: settings.region)
                let isPath = settings.pathStyle ?? (settings.endpoint != nil)
                let endpoint = try ObjectStoreEndpoint(
                    parsing: settings.endpoint ?? amazon.url.canonical, addressing: isPath ? .path : .virtualHost)
                return ObjectStoreSettings(endpoint: endpoint, region: settings.region)
            } catch {
                throw SettingError("\(SettingsTable.all.objectStorage.endpoint.name): \(error)")
            }
        }
    }
}
