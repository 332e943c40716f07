import DarkroomDialects
import DarkroomRequests

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
