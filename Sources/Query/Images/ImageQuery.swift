package import DarkroomHTTPCaching
package import DarkroomNetwork
package import DarkroomRequests

/// A parsed query to `/image` or `/info`. Queries with the same meaning are equal, however they were spelled.
///
/// It is separate from `ImageRequest` because it has the content of the URL alone, before header fields, permissions
/// and the URL parser are considered. It can be written as a URL again (``CanonicalQuery``), and it holds values that
/// the pipeline does not use, such as the file name.
package struct ImageQuery: Hashable, Sendable {
    /// The source URL, percent-decoded once and not yet parsed.
    package var url = ""
    /// Whether the source is the body of the request, so that ``url`` means nothing.
    package var isUpload = false
    /// The URL of a second source, used if the first source fails.
    package var fallback: String?
    /// The statuses of the failures that ``fallback`` is used for; empty = all.
    package var fallbackStatuses: Set<Int> = []
    /// The URL or the name of the image that ``Recipe/mark`` draws; nil = none.
    package var mark: String?
    /// The images that ``Recipe/layers`` and ``Recipe/steps`` draw by name, in the order of their names.
    package var parts: [NamedImage] = []
    package var recipe = Recipe()
    package var pages = PageSelection()
    /// The encoding. Without a format it is negotiated by `Accept`.
    package var output = OutputOptions()
    /// The quality for clients whose connection is slow; nil = the same quality for all.
    package var slowQuality: Int?
    /// Whether a result without a format of its own has the format of the source, whatever the client accepts.
    package var keepsFormat = false
    /// Placeholders that the response carries in addition to the image: some of `color`, `blurHash`, `thumbHash` and
    /// `lqip`.
    package var placeholders: ImageDetails = []
    /// Whether the document of `/info` says where it and its source are cached.
    package var includesCaching = false
    /// Which cached responses are acceptable, and whether the origin must be asked.
    package var cache = RequestCachePolicy().mode
    package var store = TierSelection.all
    /// Whether the response waits until its entries are on disk.
    package var waitsForDisk = false
    /// Whether the response waits for the best format that the client accepts.
    package var waitsForBest = false
    /// The formats that negotiation chooses from; nil = the formats of the server.
    package var formats: FormatList?
    /// Whether client hints can change the image.
    package var dependsOnClientHints = false
    /// Nil = the urgency in the `Priority` field.
    package var priority: Priority?
    /// How long the client may use the response from now on; nil = as long as origin and server permit.
    package var maxAge: Duration?
    /// The file name in `Content-Disposition`; it needs no quoting. An ending `.*` is replaced by the format's
    /// extension.
    package var fileName: String?
    /// Whether browsers save the response instead of showing it.
    package var isAttachment = false
    /// Whether the response is a `data:` URL of the image.
    package var encodesBase64 = false
    /// Texts that give the same image separate entries; nil = none.
    package var version: String?
    package var nonce: String?

    /// Whether the format depends on `Accept`.
    package var isNegotiated: Bool { output.format == nil && !keepsFormat }

    /// Whether a client whose request fails is redirected to the source.
    package var redirectsToSource: Bool { fallback == Self.redirect }

    /// The value of `default` for a redirect.
    private static let redirect = "1"

    /// Whether the document of `/info` says where the image was taken.
    package var includesPosition: Bool { output.details.contains(.position) }

    /// A request for the sources of the query, with default options. The request of an upload lacks its bytes.
    package func sourceRequest(_ map: SourceMap) throws(InvalidSourceURL) -> ImageRequest {
        var request = ImageRequest(
            source: isUpload ? SourceURL(uploadOf: "") : try map.source(url, givenAs: "url").url)
        request.fallback = try (redirectsToSource ? nil : fallback).map { text throws(InvalidSourceURL) in
            try map.source(text, givenAs: "default").url
        }
        request.fallbackStatuses = fallbackStatuses
        request.parts = try partImages(map)
        return request
    }

    /// The images to draw onto the result.
    package func partImages(_ map: SourceMap) throws(InvalidSourceURL) -> [PartImage] {
        var images: [PartImage] = []
        for image in (mark.map { [NamedImage("", $0)] } ?? []) + parts {
            images.append(try image.part(map))
        }
        return images
    }

    /// The sources of the query, and how the client spelled them.
    package func sources(
        _ map: SourceMap
    ) throws(InvalidSourceURL) -> (source: SourceMap.Source, fallback: SourceMap.Source?) {
        let source = try map.source(url, givenAs: "url")
        guard let fallback, !redirectsToSource else { return (source, nil) }
        return (source, try map.source(fallback, givenAs: "default"))
    }

    /// Sets recipe, pages, encoding and cache use of a request, for the client's preferences by the server's
    /// ``NegotiationPolicy`` and a policy whose mode is ``cache``.
    package func apply(to request: inout ImageRequest, for preferences: ClientPreferences, policy: RequestCachePolicy) {
        request.recipe = recipe
        request.pages = pages
        request.versions = [version, nonce]
        request.output = output(for: preferences)
        request.interim = interimOutput(for: preferences)
        request.cache = CacheOptions(policy: policy, store: store, waitsForDisk: waitsForDisk)
    }
}

/// An image that a query draws.
package struct NamedImage: Hashable, Sendable {
    /// See ``PartImage/name``.
    package let name: String
    /// The URL, or the name of one of the server's marks.
    package var source: String
    /// The same of the image that is drawn if the first one fails; nil = none.
    package var fallback: String?
    /// See ``PartImage/mayBeLeftOut``.
    package var mayBeLeftOut = false

    package init(_ name: String, _ source: String, fallback: String? = nil, mayBeLeftOut: Bool = false) {
        (self.name, self.source, self.fallback) = (name, source, fallback)
        self.mayBeLeftOut = mayBeLeftOut
    }

    var parameter: String { PartImage.parameter(of: name) }

    fileprivate func part(_ map: SourceMap) throws(InvalidSourceURL) -> PartImage {
        let own = try map.mark(source, givenAs: parameter)
        var part = PartImage(name, own.url, mayBeLeftOut: mayBeLeftOut)
        part.isTrusted = own.isNamed
        if let fallback {
            let other = try map.mark(fallback, givenAs: "\(parameter).default")
            (part.fallback, part.isFallbackTrusted) = (other.url, other.isNamed)
        }
        return part
    }

    /// The image in canonical spellings, which do not reveal the targets of short names.
    package func spelled(by map: SourceMap) -> NamedImage {
        var image = self
        image.source = (try? map.mark(source, givenAs: parameter))?.spelling ?? source
        image.fallback = fallback.map { (try? map.mark($0, givenAs: parameter))?.spelling ?? $0 }
        return image
    }
}

/// A source URL that was refused before anything was fetched.
package struct InvalidSourceURL: Error, Hashable {
    /// The parameter that gave the URL.
    package let parameter: String
    /// One sentence for the client.
    package let detail: String
}

extension InvalidParameter {
    /// The value, or the error of its source as the error of the parameter that gave it.
    @discardableResult
    static func wrapping<Value>(
        _ value: @autoclosure () throws(InvalidSourceURL) -> Value
    ) throws(InvalidParameter) -> Value {
        do throws(InvalidSourceURL) { return try value() } catch { throw Self(error.parameter, error.detail) }
    }
}

extension SourceMap {
    package func source(_ text: String, givenAs parameter: String) throws(InvalidSourceURL) -> Source {
        do throws(SourceURLError) {
            return try source(text)
        } catch {
            throw InvalidSourceURL(parameter: parameter, detail: error.description)
        }
    }
    /// The image to draw that a text names: one of ``marks``, or a source.
    package func mark(_ text: String, givenAs parameter: String) throws(InvalidSourceURL) -> Mark {
        guard SourceMap.isMarkName(text) else { return Mark(try source(text, givenAs: parameter)) }
        guard let named = marks[text] else {
            let hint = NameSuggestions.sentence(for: text, among: marks.keys.sorted())
            throw InvalidSourceURL(
                parameter: parameter,
                detail: "There is no mark '\(InvalidParameter.clipped(text))' on this server.\(hint)")
        }
        return named
    }
}
