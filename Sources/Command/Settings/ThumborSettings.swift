import DarkroomDialects
import Foundation

/// The key of the paths of thumbor.
struct ThumborSettings: SettingTheme {
    let title = "URLs of thumbor"

    let key = Setting(
        "thumbor-key", .optional(.secretText), default: nil, isSecret: true, isReloadable: true,
        help: """
            Key that signs paths of thumbor and imagor. If it is set, images require a signature or the admin token. \
            Prefer the environment or the file: flags are visible in the process list.
            """)
    let keyFile = Setting(
        "thumbor-key-file", .optional(.text("PATH", "the path of a file")), default: nil, isReloadable: true,
        help: "File that contains thumbor-key.")
    let signer = Setting(
        "thumbor-signature-type", .choice(of: ThumborKey.Algorithm.self), default: .sha1, isReloadable: true,
        help: "Hash function of signatures of thumbor and imagor paths.")
    let signatureLength = Setting(
        "thumbor-signature-length", .optional(.integer(8...88)), default: nil, isReloadable: true,
        help: "Characters that signatures of thumbor and imagor paths are truncated to. By default, they are complete.")
}

extension SettingKind where Value == String {
    /// A text that is never repeated.
    static var secretText: SettingKind {
        SettingKind("TEXT", "a text that is not empty") { _ in
            "set"
        } parse: {
            $0.isEmpty ? nil : $0
        }
    }
}

extension Thumbor {
    /// The dialect of these settings. Messages never repeat the key.
    init(_ settings: Settings, _ sources: SettingSources) throws(SettingError) {
        var key = settings.thumbor.key
        if let path = settings.thumbor.keyFile {
            let spelling = "\(sources.spelling(of: \.thumbor.keyFile)): \(path)"
            let text = try FileBytes.text(inFile: path, upTo: 4 << 10, spelling)
            guard !text.isEmpty else { throw SettingError("\(spelling): the file is empty; write the key to it.") }
            key = text
        }
        self.init(
            key: key.map {
                ThumborKey($0, algorithm: settings.thumbor.signer, length: settings.thumbor.signatureLength)
            }, base: settings.dialects.baseURL)
    }
}
