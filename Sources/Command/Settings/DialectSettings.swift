import DarkroomDialects
import DarkroomQuery
import DarkroomRequests
import Foundation

/// The keys and rules of the paths of other services that `compat` selects.
struct DialectSettings: SettingTheme {
    let title = "URLs of other services"

    let baseURL = Setting(
        "compat-base-url", .optional(.sourcePrefix), default: nil, isReloadable: true,
        help: """
            Beginning of the source URLs in paths of imgproxy that do not begin with it, and of those without a scheme \
            in paths of thumbor and Cloudflare, such as https://example.com/, which none of them can leave. By \
            default, a source without a scheme that begins with a host is fetched by https in paths of thumbor, and \
            any other is a local file.
            """)
    let imgproxyKeys = Setting(
        "imgproxy-keys", .secretTexts("KEY:SALT,...", "pairs of the form KEY:SALT, separated by commas"), default: [],
        isSecret: true, isReloadable: true,
        help: """
            Pairs of key and salt in hexadecimal, as KEY:SALT, that sign paths of imgproxy. If any is set, images \
            require a signature or the admin token. Prefer the environment or the file: flags are visible in the \
            process list.
            """)
    let imgproxyKeysFile = Setting(
        "imgproxy-keys-file", .optional(.text("PATH", "the path of a file")), default: nil, isReloadable: true,
        help: "File of additional pairs for imgproxy-keys, one KEY:SALT on each line.")
    let imgproxyPresets = Setting(
        "imgproxy-presets", .list(of: .text("NAME=OPTIONS", "NAME=OPTIONS, such as thumb=resize:fill:200:200")),
        default: [], isReloadable: true,
        help: """
            Presets of imgproxy paths, such as thumb=resize:fill:200:200/quality:80. The preset 'default' applies to \
            every path. With presets-only, paths have names of presets in place of options.
            """)
    let imgproxyFrames = Setting(
        "imgproxy-frames", .integer(1...100_000), default: 1, isReloadable: true,
        help: """
            Maximum number of frames of images of imgproxy paths. Of an animation with more, so many are picked evenly.
            """)
    let imgproxyWatermark = Setting(
        "imgproxy-watermark", .optional(.text("MARK", "a URL or a name of marks")), default: nil, isReloadable: true,
        help: "Image that the option 'watermark' of imgproxy paths draws, as a URL or as the name of one of marks.")
    let imgproxyFormats = Setting(
        "imgproxy-formats", .list(of: .text("FORMAT", "webp, avif or jxl")), default: [], isReloadable: true,
        help: """
            Formats of results that clients accept, the preferred one first, for imgproxy paths that name no format. \
            By default, such results have the format of the source.
            """)
}

extension SettingKind where Value == [String] {
    /// Texts that are never repeated.
    static func secretTexts(_ placeholder: String, _ grammar: String) -> SettingKind {
        SettingKind(placeholder, grammar, format: masked) { value throws(SettingRefusal) in
            let texts = value.members.compactMap(\.text)
            guard texts.count == value.members.count else { throw .because("each member must be a text.") }
            return texts
        }
    }
}

extension Settings {
    /// The paths that `compat` selects, with its keys and rules; nil = none.
    func readPathDialect(_ sources: SettingSources, _ mistakes: inout SettingMistakes) -> (any PathDialect)? {
        switch self.access.compat {
        case .darkroom, .wsrv: nil
        case .imgproxy: mistakes.collect { () throws(SettingError) in try imgproxy(sources) }
        case .thumbor: mistakes.collect { () throws(SettingError) in try Thumbor(self, sources) }
        case .cloudflare: Cloudflare(origin: self.dialects.baseURL)
        }
    }
}

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

extension Settings {
    /// The paths of imgproxy with the keys and rules of these settings. Messages never repeat a key.
    func imgproxy(_ sources: SettingSources) throws(SettingError) -> ImgproxyDialect {
        let dialects = self.dialects
        var rules = ImgproxyDialect.Rules(keys: try imgproxyKeys(sources))
        rules.base = dialects.baseURL
        rules.onlyPresets = self.access.presetsOnly
        rules.animationFrames = dialects.imgproxyFrames
        rules.watermark = dialects.imgproxyWatermark
        rules.preferredFormats = dialects.imgproxyFormats
        guard
            rules.preferredFormats.isEmpty || FormatList(parsing: rules.preferredFormats.joined(separator: ",")) != nil
        else {
            throw SettingError(
                "\(sources.spelling(of: \.dialects.imgproxyFormats)) must be a list of \(FormatList.names), each once.")
        }
        do throws(ImgproxyPresets.Flaw) {
            return try ImgproxyDialect(rules, presets: dialects.imgproxyPresets)
        } catch {
            throw SettingError("\(sources.spelling(of: \.dialects.imgproxyPresets)): \(error).")
        }
    }

    private func imgproxyKeys(_ sources: SettingSources) throws(SettingError) -> ImgproxyKeys {
        var texts = self.dialects.imgproxyKeys
        var spelling = sources.spelling(of: \.dialects.imgproxyKeys)
        if let path = self.dialects.imgproxyKeysFile {
            spelling = "\(sources.spelling(of: \.dialects.imgproxyKeysFile)): \(path)"
            let lines = try FileBytes.text(inFile: path, upTo: 64 << 10, spelling).split(whereSeparator: \.isNewline)
            texts += lines.map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        }
        let pairs = texts.map { text in
            let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (key: halves[0], salt: halves.count == 2 ? halves[1] : "")
        }
        do throws(ImgproxyKeys.Flaw) {
            return try ImgproxyKeys(pairs: pairs)
        } catch {
            throw SettingError("\(spelling): \(error).")
        }
    }
}
