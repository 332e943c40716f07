import HTTPTypes
import Hummingbird
import NIOCore

extension Problem {
    /// The response to a request that prefers a page: the problem for a person.
    func page(requestID: String) -> Response {
        let page = HTMLPage(
            title: kind.title,
            body: """
                <p>\(detail.htmlEscaped)</p>
                \(kind.explanation)
                <p>Status <b>\(kind.status.code)</b>, request <code>\(requestID.htmlEscaped)</code></p>
                """)
        var response = page.response
        response.status = kind.status
        for field in headerFields where field.name != .contentType { response.headers[field.name] = nil }
        response.headers.append(contentsOf: headerFields.filter { $0.name != .contentType })
        return response
    }
}

extension HTTPFields {
    /// Whether the request is a browser's for a document to show. Browsers name `text/html` where they load documents,
    /// not where they load images; over plain HTTP, they do not send `Sec-Fetch-Dest`.
    var prefersPage: Bool {
        (self[.secFetchDest] ?? "document") == "document" && acceptsPage(self[.accept])
    }

    /// Adds what ``prefersPage`` depends on to `Vary`.
    package mutating func varyByPage() {
        let names = (self[.vary] ?? "").split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        for name in [HTTPField.Name.accept, .secFetchDest] where !names.contains(name.canonicalName) {
            self[.vary] = self[.vary].map { "\($0), \(name.rawName)" } ?? name.rawName
        }
    }
}

/// Whether an `Accept` names HTML.
package func acceptsPage(_ accept: String?) -> Bool { accept?.lowercased().contains("text/html") ?? false }
