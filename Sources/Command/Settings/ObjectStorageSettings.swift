import DarkroomNetwork
import DarkroomObjectStorage

struct ObjectStorageSettings: SettingTheme {
    static let title = "Object storage"

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
}

extension SettingKind where Value == String {
    fileprivate static var region: SettingKind {
        SettingKind("REGION", "1 to 64 lower-case letters, digits and '-', such as eu-central-1", format: \.self) {
            $0.wholeMatch(of: /[a-z0-9-]{1,64}/) == nil ? nil : $0
        }
    }
}

extension Settings {
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
