import DarkroomWeb

extension SettingReader {
    /// Who may ask for what.
    func access(_ limits: QueryLimits) throws(SettingError) -> Access {
        var access = Access()
        access.presets = try presets(limits)
        access.presetsOnly = try required(.presetsOnly).boolean()
        guard !access.presetsOnly || !access.presets.isEmpty else {
            throw SettingError(
                "\(layers.spelling(.presetsOnly)) and presets: there are no presets that pictures could be made by.")
        }
        access.signingKeys = try signingKeys(access.presets)
        access.origins = try origins()
        return access
    }

    private func presets(_ limits: QueryLimits) throws(SettingError) -> Presets {
        var presets = Presets()
        for text in try layers.list(.presets) {
            guard let equals = text.text.firstIndex(of: "=") else {
                throw SettingError(
                    text.spelling, given: text.text,
                    allowed: "NAME=QUERY, such as avatar=w=96&h=96&fit=cover, where a comma within a query is %2C")
            }
            let query = String(text.text[equals...].dropFirst())
            do throws(Presets.Flaw) {
                try presets.add(String(text.text[..<equals]), query, limits: limits)
            } catch {
                throw SettingError("\(text.spelling): \(error)")
            }
        }
        return presets
    }

    /// Those of both settings. Nothing that is said of a bad one repeats it.
    private func signingKeys(_ presets: Presets) throws(SettingError) -> [SigningKey] {
        var keys: [SigningKey] = []
        for text in try layers.list(.signingKeys) { keys.append(try text.signingKey()) }
        if let file = try layers.text(.signingKeysFile) {
            keys += try SigningKeyFile(reading: file).keys(presets)
        }
        var ids: Set<String> = []
        for key in keys where !ids.insert(key.id).inserted {
            throw SettingError("\(layers.spelling(.signingKeys)): the key '\(key.id)' is given twice.")
        }
        return keys
    }

    private func origins() throws(SettingError) -> CORSPolicy {
        let texts = try layers.list(.corsOrigins)
        if texts.map(\.text) == ["*"] { return .all }
        var origins: Set<String> = []
        for text in texts { origins.insert(try text.origin()) }
        return origins.isEmpty ? .none : .listed(origins)
    }
}

extension SettingText {
    /// `ID:SECRET`.
    fileprivate func signingKey() throws(SettingError) -> SigningKey {
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2 else {
            throw SettingError("\(spelling): keys have the form ID:SECRET, with commas between them.")
        }
        do throws(SigningKey.Flaw) {
            return try SigningKey(id: halves[0], secret: halves[1])
        } catch {
            throw SettingError("\(spelling): \(error.sentence)")
        }
    }

    /// As browsers write it: scheme, host and port, without the port that is standard.
    fileprivate func origin() throws(SettingError) -> String {
        let address = try webAddress()
        guard address.split(separator: "/", omittingEmptySubsequences: false).count == 3 else {
            throw SettingError(
                spelling, given: text, allowed: "scheme and host of a site, such as https://www.example.com, or * alone"
            )
        }
        return address
    }
}

extension SigningKey.Flaw {
    /// Without the key.
    var sentence: String {
        switch self {
        case .id: "the id of a key has 1 to 32 letters A-Z and a-z, digits, - and _."
        case .secret:
            "the secret of a key has at least 32 letters, digits and signs of ASCII, without blanks and commas; 'openssl rand -hex 32' makes one."
        }
    }
}
