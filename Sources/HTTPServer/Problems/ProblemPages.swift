import Hummingbird

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
