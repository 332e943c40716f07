import Hummingbird

/// What the `type` of a problem leads to: a page for people about each kind, and an index of them.
enum ProblemPages {
    static var routes: [Route] {
        [
            Route("/problems") { _, _ in index.response },
            Route("/problems/{slug}") { _, context throws(Problem) in
                guard let kind = context.parameters.get("slug").flatMap(ProblemKind.init) else { throw .noSuchRoute() }
                return page(of: kind).response
            },
        ]
    }

    static var index: Page {
        let rows = ProblemKind.all.sorted { $0.status.code < $1.status.code }.map { kind in
            "<li><b>\(kind.status.code)</b> <a href=\"\(kind.type)\">\(Page.escaped(kind.title))</a></li>"
        }
        return Page(
            title: "What can go wrong",
            body: """
                <p>Every failure is a problem document (RFC 9457). Its <code>type</code> is the address of one of these pages.</p>
                <ul>
                \(rows.joined(separator: "\n"))
                </ul>
                """)
    }

    static func page(of kind: ProblemKind) -> Page {
        Page(
            title: kind.title,
            body: """
                <p>Status <b>\(kind.status.code)</b> \(Page.escaped(kind.status.reasonPhrase)), type <code>\(kind.type)</code></p>
                <h2>Cause</h2>
                <p>\(Page.escaped(kind.cause))</p>
                <h2>What to do</h2>
                <p>\(Page.escaped(kind.cure))</p>
                <p><a href="/problems">All problems</a></p>
                """)
    }
}
