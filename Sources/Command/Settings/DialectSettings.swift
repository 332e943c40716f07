import DarkroomDialects

/// The keys and rules of the paths of other services that `compat` selects.
struct DialectSettings: SettingTheme {
    static let title = "URLs of other services"
}

extension Settings {
    /// The paths that `compat` selects; nil = none.
    ///
    /// - Parameter mistakes: gets the keys and rules that are invalid.
    static func pathDialect(
        _ settings: Settings, _ sources: SettingSources, _ mistakes: inout SettingMistakes
    ) -> (any PathDialect)? {
        switch settings.access.compat {
        case .darkroom, .wsrv: nil
        case .imgproxy: nil
        case .thumbor: mistakes.collect { () throws(SettingError) in try Thumbor(settings, sources) }
        case .cloudflare: Cloudflare(origin: settings.thumbor.cloudflareOrigin)
        }
    }
}
