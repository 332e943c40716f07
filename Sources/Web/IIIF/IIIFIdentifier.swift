import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomQuery
import Hummingbird

/// The identifier in an IIIF path: the percent-encoded URL or short name of a source (IIIF Image API 3.0 §3).
struct IIIFIdentifier {
    /// As received.
    private let segment: String

    init(in head: RequestHead) {
        segment = head.path.split(separator: "/").dropFirst().first.map { String($0) } ?? ""
    }

    /// The source that a server has under this name.
    func source(_ map: SourceMap) throws(Problem) -> (text: String, source: SourceMap.Source) {
        let text = try requireValid(IIIFPath.text(of: segment, named: "identifier"))
        do throws(SourceURLError) {
            return (text, try map.source(text))
        } catch {
            switch error {
            case .missingScheme, .unsupportedScheme:
                throw Problem(
                    .sourceNotFound,
                    "No image has this identifier: it must be a percent-encoded http, https, s3 or local URL, or begin "
                        + "with a short name of this server.", parameter: "identifier")
            default:
                throw Problem(.invalidURL, error.description, parameter: "identifier")
            }
        }
    }

    /// The query for the document of `/info`.
    func informationQuery(_ configuration: WebConfiguration) throws(Problem) -> ImageQuery {
        let source = try source(configuration.sourceMap).text
        return .information(about: source)
    }

    /// The URI that the paths of the image begin with, with the identifier in the client's spelling. Without
    /// `public-url`, it has what a trusted proxy states of scheme and host. The client may have chosen the host, so no
    /// cache may store it.
    func baseURI(
        of request: Request, _ head: RequestHead, _ configuration: WebConfiguration
    ) throws(Problem) -> String {
        guard configuration.publicURL == nil else { return baseReference(configuration) }
        let forwarded = head.forwardedOrigin
        guard let host = forwarded?.host ?? request.head.authority, !host.isEmpty,
            host.utf8.allSatisfy(\.isHostCharacter)
        else {
            throw Problem(
                .malformedRequest, "The 'Host' field must be a host name or address, optionally with a port.")
        }
        return "\(forwarded?.scheme ?? "http")://\(host)\(baseReference(configuration))"
    }

    /// The same for header fields: without `public-url` it is relative to the request (RFC 3986 §4.2).
    func baseReference(_ configuration: WebConfiguration) -> String {
        (configuration.publicURL ?? configuration.basePath) + IIIFPath.prefix
            + PercentEncoding.complete(Array(segment.utf8)[...], allowing: .pathSegment)
    }
}

extension AuthorizedRoute {
    /// A route below `/iiif`. Viewers complete its path themselves and cannot sign it, so where others are signed, it
    /// is open for the sources that the operator has given a short name.
    init(
        iiif path: String, _ configuration: WebConfiguration, answer: @escaping Ask
    ) {
        self.init(path, presets: .unsupported, answer: answer)
        query = { head throws(Problem) in
            guard configuration.servesIIIF else { throw .iiifDisabled }
            try head.requireNoQuery()
            return QueryString()
        }
        isOpen = { head in
            (try? IIIFIdentifier(in: head).source(configuration.sourceMap))?.source.isNamed == true
        }
    }
}

extension Problem {
    fileprivate static let iiifDisabled = Problem(
        .iiifDisabled, "This server does not serve the IIIF Image API; its operator can set 'iiif'.")
}
