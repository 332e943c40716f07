import HTTPTypes
import Hummingbird
import NIOCore

extension Problem {
    /// The problem for a person.
    ///
    /// - Parameter links: HTML that leads on.
    func page(requestID: String, links: String = "") -> HTMLPage {
        HTMLPage(
            title: kind.title,
            body: """
                <p>\(detail.htmlEscaped)</p>
                \(kind.explanation)
                <p>Status <b>\(kind.status.code)</b>, request <code>\(requestID.htmlEscaped)</code></p>
                \(links)
                """)
    }
}

extension RequestHead {
    /// Whether the request is a browser's for a document to show. Browsers name `text/html` where they load documents,
    /// not where they load images; over plain HTTP, they do not send `Sec-Fetch-Dest`.
    var prefersPage: Bool { (secFetchDest ?? "document") == "document" && acceptsPage(accept) }
}

extension HTTPFields {
    /// Adds what ``RequestHead/prefersPage`` depends on to `Vary`.
    mutating func varyByPage() {
        let names = (self[.vary] ?? "").split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        for name in [HTTPField.Name.accept, .secFetchDest] where !names.contains(name.canonicalName) {
            self[.vary] = self[.vary].map { "\($0), \(name.rawName)" } ?? name.rawName
        }
    }
}

package func acceptsPage(_ accept: String?) -> Bool { accept?.lowercased().contains("text/html") ?? false }

extension Route {
    /// The pages that the `type` of a problem leads to: one per kind, and an index. Their links are relative to their
    /// own path, because a proxy may serve them below another.
    package static func problems(_ kinds: [ProblemKind]) -> [Route] {
        [
            Route("/problems") { _, _ in index(of: kinds).response },
            Route("/problems/{slug}") { _, context throws(Problem) in
                let slug = context.parameter("slug")
                guard let kind = kinds.first(where: { $0.slug == slug }) else { throw .noSuchRoute }
                return page(of: kind).response
            },
        ]
    }

    private static func index(of kinds: [ProblemKind]) -> HTMLPage {
        let rows = kinds.sorted { $0.status.code < $1.status.code }.map { kind in
            "<li><b>\(kind.status.code)</b> <a href=\"problems/\(kind.slug)\">\(kind.title.htmlEscaped)</a></li>"
        }
        return HTMLPage(
            title: "Problems",
            body: """
                <p>Failures are reported as problem documents (RFC 9457). \
                Their <code>type</code> leads to one of these pages.</p>
                <ul>
                \(rows.joined(separator: "\n"))
                </ul>
                """)
    }

    private static func page(of kind: ProblemKind) -> HTMLPage {
        HTMLPage(
            title: kind.title,
            body: """
                <p>Status <b>\(kind.status.code)</b> \(kind.status.reasonPhrase.htmlEscaped), \
                type <code>\(kind.type)</code></p>
                \(kind.explanation)
                <p><a href="../problems">All problems</a></p>
                """)
    }
}

extension ProblemKind {
    /// Cause and remedy in HTML.
    var explanation: String {
        """
        <h2>Cause</h2>
        <p>\(cause.htmlEscaped)</p>
        <h2>Remedy</h2>
        <p>\(remedy.htmlEscaped)</p>
        """
    }
}
