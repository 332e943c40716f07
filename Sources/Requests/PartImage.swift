public import DarkroomNetwork

/// An image that a request draws onto its result, in addition to its source.
public struct PartImage: Hashable, Sendable {
    /// The name of the ``Layer`` or the ``Mark/image`` that draws it; empty = it is drawn by ``Recipe/mark``.
    public var name: String
    public var source: SourceURL
    /// Drawn instead if ``source`` fails, under the same rules. Default: none.
    public var fallback: SourceURL?
    /// Whether the result is made without the image if it fails; otherwise the request fails. Default: false.
    public var mayBeLeftOut = false
    /// Whether this server's operator chose ``source``, rather than the client.
    package var isTrusted = false
    /// Whether this server's operator chose ``fallback``.
    package var isFallbackTrusted = false

    /// The most different sources of the named images of a request, fallbacks included.
    package static let maxSources = 8

    public init(_ name: String, _ source: SourceURL, fallback: SourceURL? = nil, mayBeLeftOut: Bool = false) {
        self.name = name
        self.source = source
        self.fallback = fallback
        self.mayBeLeftOut = mayBeLeftOut
    }

    /// The parameter that gives the image of a part.
    package static func parameter(of name: String) -> String { name.isEmpty ? "mark" : "mark.\(name)" }

    /// The parameter that gives the image.
    package var parameter: String { Self.parameter(of: name) }

    /// All sources of the part.
    package var sources: [SourceURL] { [source, fallback].compactMap(\.self) }

    /// The image that is drawn if ``source`` fails; nil = none.
    package var replacement: PartImage? {
        guard let fallback else { return nil }
        var part = self
        (part.source, part.isTrusted) = (fallback, isFallbackTrusted)
        part.fallback = nil
        return part
    }

    /// The image and its fallback, as far as the client chose them.
    package var foreignSources: [(parameter: String, source: SourceURL)] {
        let own = isTrusted ? [] : [(parameter, source)]
        return own + (isFallbackTrusted ? [] : fallback.map { [("\(parameter).default", $0)] } ?? [])
    }
}
