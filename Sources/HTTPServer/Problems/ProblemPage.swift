import HTTPTypes
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

/// Whether an `Accept` names HTML.
package func acceptsPage(_ accept: String?) -> Bool { accept?.lowercased().contains("text/html") ?? false }
