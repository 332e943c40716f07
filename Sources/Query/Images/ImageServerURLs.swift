import DarkroomHTTPCaching
import DarkroomNetwork
public import DarkroomRequests
public import Foundation

/// Builds the URLs of images on a Darkroom server, signed if the server has signing keys.
///
/// A URL is built from the same ``ImageRequest`` that a pipeline takes, in the canonical spelling of the server's
/// parameters. Before it is returned, it is parsed as by the server.
public struct ImageServerURLs: Sendable {
    private let builder: ImageURLBuilder
    private let grammar = ImageQueryGrammar()
    private let key: SigningKey?

    /// The reason why there is no URL, in one sentence.
    public struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The sentence.
        public let description: String
    }

    /// Creates a builder for a server that answers unsigned requests.
    ///
    /// - Parameter server: the URL of the server, such as `https://images.example.com`, including the path of a proxy;
    ///   empty = URLs begin with `/image`.
    public init(server: String = "") {
        self.init(server: server, key: nil)
    }

    /// Creates a builder that signs. The secret must not reach a browser.
    ///
    /// - Parameters:
    ///   - server: the URL of the server, such as `https://images.example.com`, including the path of a proxy; empty =
    ///     URLs begin with `/image`.
    ///   - keyID: the ID of one of the server's signing keys.
    ///   - secret: the secret of this key, as the server has it.
    public init(server: String = "", keyID: String, secret: String) throws(Refusal) {
        do throws(SigningKey.Flaw) {
            self.init(server: server, key: try SigningKey(id: keyID, secret: secret))
        } catch {
            throw Refusal(
                description: error == .id
                    ? "The ID of a key must be 1 to 32 letters, digits, '-' and '_'."
                    : "The secret of a key must be at least 32 printable ASCII characters without spaces and commas.")
        }
    }

    private init(server: String, key: SigningKey?) {
        let prefix = server.hasSuffix("/") ? String(server.dropLast()) : server
        builder = ImageURLBuilder(prefix: prefix, limits: QueryLimits(), keys: [])
        self.key = key
    }

    /// The URL of an image.
    ///
    /// - Parameters:
    ///   - request: the image. Of its options, source, fallback, parts, recipe, pages, output, placeholders and the
    ///     mode of its cache policy become parameters. Without a format, the server chooses one that clients accept.
    ///   - expires: when the URL expires, in whole seconds; nil = never.
    /// - Throws: if the request has bytes instead of a URL, or a value that no parameter can express.
    public func url(for request: ImageRequest, expires: Date? = nil) throws(Refusal) -> String {
        guard request.data == nil else {
            throw Refusal(description: "An image in memory has no URL; send it with POST /image.")
        }
        let (query, meaning): (ImageQuery, ImageQuery)
        do throws(InvalidParameter) {
            let asked = ImageQuery(request)
            query = try grammar.parse(builder.canonical(asked))
            meaning = try ImageQueryDraft(writing: asked, grammar.limits).finished(grammar.limits)
        } catch {
            throw Refusal(description: error.detail)
        }
        guard query.recipe == meaning.recipe, meaning.recipe.keepsPlaces(of: request.recipe),
            query.output.key == request.output.key, query.pages == request.pages
        else { throw Refusal(description: "The request has a value that no parameter of a URL expresses.") }
        return builder.url(of: query, for: Authorization(key: key, expires: expires))
    }

    /// The URL of an image with a preset of the server.
    ///
    /// - Parameters:
    ///   - source: the URL of the source, or one of the server's short names.
    ///   - preset: the name of the preset.
    ///   - parts: the images and texts that the preset leaves to requests, such as `mark.photo`, with their values.
    ///   - expires: when the URL expires, in whole seconds; nil = never.
    public func url(
        of source: String, preset: String, parts: [String: String] = [:], expires: Date? = nil
    ) -> String {
        var parameters = QueryString(pairs: [.init(name: "url", value: source)])
        parameters.append(AccessParameters.preset.name, preset)
        for (name, value) in parts.sorted(by: { $0.key < $1.key }) { parameters.append(name, value) }
        return builder.url(of: parameters, for: Authorization(key: key, expires: expires))
    }
}

extension Recipe {
    /// Whether position and mark equal the recipe that parameters were written of. Parameters name other points
    /// than the nine anchors as focal points, and a position without an effect is left out.
    fileprivate func keepsPlaces(of recipe: Recipe) -> Bool {
        [recipe.position, .center].contains(position) && recipe.mark == mark
    }
}

extension ImageQuery {
    /// The query for a request, as far as parameters express it.
    fileprivate init(_ request: ImageRequest) {
        self.init(recipe: request.recipe)
        url = request.source.canonical
        fallback = request.fallback?.canonical
        mark = request.mark?.canonical
        parts = request.parts.filter { !$0.name.isEmpty }.sorted { $0.name < $1.name }.map { part in
            NamedImage(
                part.name, part.source.canonical, fallback: part.fallback?.canonical, mayBeLeftOut: part.mayBeLeftOut)
        }
        pages = request.pages
        output = request.output
        placeholders = request.placeholders
        cache = request.cache.policy.mode
    }
}
