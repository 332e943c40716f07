import DarkroomOrigin
import Foundation
import HTTPTypes

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
