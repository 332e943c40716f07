import Crypto
import Foundation
import HTTPTypes
package import Hummingbird
import NIOCore

/// A page of text: a single document without external resources.
package struct HTMLPage: Sendable {
    /// Plain text.
    package let title: String
    /// HTML. Untrusted text in it must be ``Swift/String/htmlEscaped``.
    package let body: String
    /// HTML of a side bar, of which a narrow screen shows what a filter leaves; empty = none.
    package let navigation: String
    /// JavaScript that the page needs for comfort only; empty = none.
    package let script: String

    package init(title: String, body: String, navigation: String = "", script: String = "") {
        self.title = title
        self.body = body
        self.navigation = navigation
        self.script = script
    }

    package var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title.htmlEscaped) – Darkroom</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        \(navigation.isEmpty ? "" : "<nav aria-label=\"Contents\">\(navigation)</nav>")
        <main>
        <h1>\(title.htmlEscaped)</h1>
        \(body)
        </main>
        \(script.isEmpty ? "" : "<script>\(script)</script>")
        </body>
        </html>

        """
    }

    /// The response, cacheable for an hour. Its policy allows the page's own style sheet and script, and nothing else.
    package var response: Response {
        var response = Response(
            ByteBuffer(string: html), type: "text/html; charset=utf-8", cacheControl: "public, max-age=3600")
        for field in fields { response.headers[field.name] = field.value }
        return response
    }

    /// What the page needs whatever its status.
    var fields: HTTPFields { [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy] }

    /// The source expression that allows one inline script or style by its hash (CSP Level 3 §8.4).
    package static func policySource(ofInline text: some StringProtocol) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }

    private static let style = """

        :root { color-scheme: light dark; --text: #1d1d22; --back: #fbfaf8; --link: #9a3412; --soft: #efece6 }
        @media (prefers-color-scheme: dark) {
          :root { --text: #e9e6e1; --back: #17161a; --link: #fdba74; --soft: #26252b }
        }
        body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
        main { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere }
        h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.1rem; margin-top: 1.75rem }
        a { color: var(--link) } li { margin: .35rem 0 } ul { padding-left: 1.25rem }
        dt { margin-top: 1rem } dd { margin: 0; color: var(--text) } dd p { margin: .25rem 0 }
        code { background: var(--soft); padding: .1em .35em; border-radius: .25em }
        nav { padding: 1rem 1rem 0; overflow-wrap: anywhere; font-size: .875rem } nav li { margin: 0 }
        nav ul { list-style: none; padding: 0 } :target { scroll-margin-top: 1rem }
        nav input { box-sizing: border-box; width: 100%; padding: .4rem; font: inherit; color: inherit }
        nav input { border: 1px solid; border-radius: .25em; background: var(--soft) }
        @media (max-width: 63.99rem) { nav:not(:has(input:not(:placeholder-shown))) details { display: none } }
        @media (min-width: 64rem) {
          body:has(> nav) { display: grid; grid-template-columns: 16rem minmax(0, 1fr) }
          nav { position: sticky; top: 0; box-sizing: border-box; height: 100vh; padding: 1rem; overflow-y: auto }
        }

        """

    private var policy: String {
        let script = script.isEmpty ? "" : "script-src \(Self.policySource(ofInline: script)); "
        return "default-src 'none'; style-src \(Self.policySource(ofInline: Self.style)); \(script)"
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }
}

extension String {
    /// The text with HTML's special characters escaped, for use in elements and quoted attributes.
    package var htmlEscaped: String {
        // Unicode scalars rather than characters: a combining mark after a quote forms one character with it, but HTML
        // still sees the quote.
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
