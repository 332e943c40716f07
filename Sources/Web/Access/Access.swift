/// Who may ask for what.
package struct Access: Hashable, Sendable {
    /// Where there is one, pictures are answered to signed requests alone, and to those with the admin token. The ids are different.
    package var signingKeys: [SigningKey] = []
    /// What `preset` may name.
    package var presets = Presets()
    /// Whether pictures are made by presets alone.
    package var presetsOnly = false
    /// The sites whose scripts may read answers.
    package var origins = CORSPolicy.none

    /// Everybody may ask for everything.
    package init() {}
}
