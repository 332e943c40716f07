import DarkroomNetwork

/// The files that the AWS tools share: `~/.aws/credentials` and `~/.aws/config`.
///
/// `AWS_SHARED_CREDENTIALS_FILE`, `AWS_CONFIG_FILE` and `AWS_PROFILE` (or `AWS_DEFAULT_PROFILE`) select files and
/// profile. Only keys are read; profiles that assume roles, log in or run a program have none.
struct SharedCredentialsFiles {
    let environment: [String: String]
    let readFile: @Sendable (String) -> [UInt8]?

    /// The keys of the profile. Nil if there are none and no profile was asked for.
    func credentials() throws(CredentialsError) -> Credentials? {
        let requested = environment["AWS_PROFILE"] ?? environment["AWS_DEFAULT_PROFILE"]
        let profile = requested ?? "default"
        let sections = [
            try section(profile, of: "AWS_SHARED_CREDENTIALS_FILE", default: "credentials"),
            try section(
                profile == "default" ? profile : "profile \(profile)", of: "AWS_CONFIG_FILE", default: "config"),
        ]
        for section in sections {
            guard let section, section["aws_access_key_id"] ?? section["aws_secret_access_key"] != nil else { continue }
            guard let accessKey = section["aws_access_key_id"], let secretKey = section["aws_secret_access_key"] else {
                throw .incomplete(.sharedFiles)
            }
            return try Credentials(
                accessKey: accessKey, secretKey: secretKey, sessionToken: section["aws_session_token"],
                from: .sharedFiles)
        }
        // A profile without keys may still choose a region for other sources.
        guard requested == nil || sections.contains(where: { $0 != nil }) else { throw .profileNotFound(profile) }
        return nil
    }

    /// The properties of a section, or nil if there is no such file or section.
    private func section(
        _ name: String, of variable: String, default fileName: String
    ) throws(CredentialsError) -> [String: String]? {
        let home = environment["HOME"]
        guard var path = environment[variable] ?? home.map({ "\($0)/.aws/\(fileName)" }) else { return nil }
        if path.hasPrefix("~/"), let home { path = home + path.dropFirst() }
        guard let bytes = readFile(path) else {
            guard environment[variable] == nil else { throw .unreadable(.sharedFiles, path: path) }
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed(.sharedFiles) }
        return Self.sections(text)[name]
    }

    /// Splits a file into sections of properties. Indented lines belong to a nested property and are ignored, as are
    /// comments and lines of any other form.
    static func sections(_ text: String) -> [String: [String: String]] {
        var sections: [String: [String: String]] = [:]
        var current: String?
        for line in text.split(whereSeparator: \.isNewline) where line.utf8.first?.isBlank == false {
            let line = line.trimmingBlanks
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                let words = line[line.index(after: line.startIndex)..<end].split(whereSeparator: \.isWhitespace)
                current = words.joined(separator: " ")
                sections[current ?? "", default: [:]] = sections[current ?? ""] ?? [:]
            } else if let current, !line.hasPrefix("#"), !line.hasPrefix(";"), let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmingBlanks.lowercased()
                sections[current]?[name] = String(line[line.index(after: equals)...].trimmingBlanks)
            }
        }
        return sections
    }
}
