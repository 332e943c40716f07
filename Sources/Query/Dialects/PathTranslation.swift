package import Foundation

/// A path of another service, translated into a query in Darkroom's own parameters.
package struct PathTranslation: Hashable, Sendable {
    /// The query as `/image` reads it. A document about an image has `output=json`.
    package var query: QueryString
    /// Whether a key or a trusted text signed the path.
    package var isSigned: Bool
    /// When the URL expires; nil = never.
    package var expires: Date?
    /// Whether presets alone decide how the image is made. Servers that allow only presets accept no other path.
    package var hasOnlyPresets: Bool
    /// The options that change nothing, in the order of the path.
    package var ignored: [Translation.Ignored]

    package init(
        query: QueryString, isSigned: Bool = false, expires: Date? = nil, hasOnlyPresets: Bool = false,
        ignored: [Translation.Ignored] = []
    ) {
        self.query = query
        self.isSigned = isSigned
        self.expires = expires
        self.hasOnlyPresets = hasOnlyPresets
        self.ignored = ignored
    }
}
