import DarkroomDialects
import DarkroomQuery

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
