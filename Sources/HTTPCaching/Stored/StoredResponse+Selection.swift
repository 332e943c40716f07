import DarkroomNetwork
public import HTTPTypes

extension StoredResponse {
    /// Whether this response is one for a request that would be sent with these fields (RFC 9111 §4.1).
    ///
    /// Never where `Vary` names `*` or something that is no field name. Values are compared member by member of their
    /// lists, so that spaces and the split into lines do not matter.
    public func isSelected(bySending fields: HTTPFields) -> Bool {
        guard self.fields.contains(.vary) else { return true }
        return nominations.allSatisfy { text in
            guard text != "*", let name = HTTPField.Name(String(text)) else { return false }
            let (sent, presented) = (requestFields[name], fields[name])
            return sent == presented || Self.members(of: sent) == Self.members(of: presented)
        }
    }

    /// Whether nothing but the origin can tell whom it is for.
    var variesByAnything: Bool { nominations.contains("*") }

    /// Of a request's fields those that `Vary` names.
    func nominated(of sent: HTTPFields) -> HTTPFields {
        let names = Set(nominations.compactMap { HTTPField.Name(String($0)) })
        return names.isEmpty ? HTTPFields() : HTTPFields(sent.filter { names.contains($0.name) })
    }

    private var nominations: [Substring] { Self.members(of: fields[.vary]) ?? [] }

    /// The members of a field that is a list, without blanks around them; nil where there is no field.
    static func members(of value: String?) -> [Substring]? { value.map { $0[...].plainListMembers } }
}
