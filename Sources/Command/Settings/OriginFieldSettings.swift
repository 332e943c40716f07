import DarkroomOrigin
import Foundation
import HTTPTypes

extension Settings {
    /// The fields of both settings. Messages never repeat a value.
    func readOriginFields(_ sources: SettingSources) throws(SettingError) -> OriginFields {
        guard let path = self.origins.fieldsFile else { return OriginFields(self.origins.fields) }
        let spelling = "\(sources.spelling(of: \.origins.fieldsFile)): \(path)"
        let text = try FileBytes.text(inFile: path, upTo: 1 << 20, spelling)
        guard let hosts = try? JSONDecoder().decode([String: [String: String]].self, from: Data(text.utf8)) else {
            throw SettingError("\(spelling) must be a JSON object of hosts, each with an object of fields.")
        }
        do throws(SettingRefusal) {
            let rules = try hosts.sorted { $0.key < $1.key }.map { host, fields throws(SettingRefusal) in
                try OriginFields.Rule(host, fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            }
            return OriginFields(self.origins.fields + rules)
        } catch {
            throw SettingError(error.sentence(about: spelling, isSecret: true))
        }
    }
}

extension SettingKind where Value == [OriginFields.Rule] {
    /// `HOST=NAME: VALUE,…`; in YAML also a map of hosts to maps of fields.
    static var originFields: SettingKind {
        let grammar = "HOST=NAME: VALUE, such as img.example.com=Referer: https://example.com/, with %2C for a comma"
        return SettingKind("HOST=NAME: VALUE,...", grammar, format: masked) { value throws(SettingRefusal) in
            var rules: [OriginFields.Rule] = []
            for member in value.members {
                if case .map(let hosts) = member {
                    for (host, fields) in hosts {
                        guard let named = try fields.namedTexts(grammar) else { throw .expected(grammar, got: nil) }
                        rules.append(try OriginFields.Rule(host, named.map { ($0.name, $0.text) }))
                    }
                    continue
                }
                let halves = member.text?.split(separator: "=", maxSplits: 1).map(String.init) ?? []
                let field = halves.last?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
                guard halves.count == 2, field.count == 2 else { throw .expected(grammar, got: nil) }
                rules.append(try OriginFields.Rule(halves[0], [(field[0], field[1].replacing("%2C", with: ","))]))
            }
            return rules
        }
    }
}

extension OriginFields.Rule {
    fileprivate init(_ host: String, _ fields: [(name: String, value: String)]) throws(SettingRefusal) {
        var all = HTTPFields()
        for (name, value) in fields {
            let value = value.trimmingCharacters(in: .whitespaces)
            guard let field = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw .because(
                    "a field of '\(host.prefix(100))' must have a name of letters, digits and '-', and a value in one "
                        + "line.")
            }
            guard OriginFields.allows(field) else {
                throw .because("'\(name)' cannot be set for '\(host.prefix(100))': this server sets it.")
            }
            all.append(HTTPField(name: field, value: value))
        }
        self.init(host: try SettingKind.hostGlob.parse(.text(host)), fields: all)
    }
}
