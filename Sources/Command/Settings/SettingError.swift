/// A setting that stops start-up: one sentence that names the key as the user spelled it, and says what is allowed.
struct SettingError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A value that cannot be read.
    init(_ spelling: String, given: String, allowed: String) {
        self.init("\(spelling): \"\(given.prefix(100))\" is not allowed; allowed is \(allowed).")
    }
}
