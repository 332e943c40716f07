import DarkroomDialects
import DarkroomQuery
import NIOCore

extension Settings {
    /// The paths of imgproxy with the keys and rules of these settings. Messages never repeat a key.
    static func imgproxy(_ settings: Settings, _ sources: SettingSources) throws(SettingError) -> ImgproxyDialect {
        let dialects = settings.dialects
        var rules = ImgproxyDialect.Rules(keys: try imgproxyKeys(settings, sources))
        rules.baseURL = dialects.imgproxyBaseURL ?? ""
        rules.separator = dialects.imgproxySeparator
        rules.onlyPresets = settings.access.presetsOnly
        rules.allowedOptions = Set(dialects.imgproxyOptions)
        rules.hasFileNames = dialects.imgproxyFileNames
        rules.animationFrames = dialects.imgproxyFrames
        rules.watermark = dialects.imgproxyWatermark
        rules.preferredFormats = try formats(settings, sources)
        guard !rules.separator.contains(where: { "/?#%".contains($0) }) else {
            throw SettingError(
                "\(sources.spelling(of: \.dialects.imgproxySeparator)) must be a text without /, ?, # and %.")
        }
        do throws(ImgproxyPresets.Flaw) {
            return try ImgproxyDialect(rules, presets: dialects.imgproxyPresets)
        } catch {
            throw SettingError("\(sources.spelling(of: \.dialects.imgproxyPresets)): \(error).")
        }
    }

    private static func imgproxyKeys(
        _ settings: Settings, _ sources: SettingSources
    ) throws(SettingError) -> ImgproxyKeys {
        var texts = settings.dialects.imgproxyKeys
        var spelling = sources.spelling(of: \.dialects.imgproxyKeys)
        if let path = settings.dialects.imgproxyKeysFile {
            spelling = "\(sources.spelling(of: \.dialects.imgproxyKeysFile)): \(path)"
            texts += try lines(inFile: path, spelling: spelling)
        }
        let pairs = texts.map { text in
            let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (key: halves[0], salt: halves.count == 2 ? halves[1] : "")
        }
        do throws(ImgproxyKeys.Flaw) {
            return try ImgproxyKeys(
                pairs: pairs, size: settings.dialects.imgproxySignatureSize,
                trusted: settings.dialects.imgproxyTrustedSignatures)
        } catch {
            throw SettingError("\(spelling): \(error).")
        }
    }

    private static func lines(inFile path: String, spelling: String) throws(SettingError) -> [String] {
        do throws(FileError) {
            let text = String(buffer: try FileBytes.read(path, upTo: 64 << 10))
            return text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        } catch {
            throw SettingError("\(spelling): \(error.sentence)")
        }
    }

    private static func formats(_ settings: Settings, _ sources: SettingSources) throws(SettingError) -> [String] {
        let names = settings.dialects.imgproxyFormats
        guard names.isEmpty || FormatList(parsing: names.joined(separator: ",")) != nil else {
            throw SettingError(
                "\(sources.spelling(of: \.dialects.imgproxyFormats)) must be a list of \(FormatList.names), each once.")
        }
        return names
    }
}
