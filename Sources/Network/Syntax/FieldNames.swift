package import HTTPTypes

extension HTTPField.Name {
    /// A field name that is written out in source code. A malformed one is a programming error and stops the process.
    package static func known(_ name: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name("\(name)") else { preconditionFailure("'\(name)' is not a field name") }
        return name
    }

    /// `Pragma`, the predecessor of `Cache-Control` (RFC 9111 §5.4).
    package static let pragma = known("Pragma")
}
