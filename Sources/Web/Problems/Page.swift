import Crypto
import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A page of text for people: one document without script or anything from elsewhere.
struct Page: Sendable {
    /// Plain text.
    let title: String
    /// HTML, in which foreign text is ``escaped(_:)``.
    let body: String

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(Self.escaped(title)) – Darkroom</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>\(Self.escaped(title))</h1>
        \(body)
        </main>
        </body>
        </html>

        """
    }

    /// The same for everybody; only its own style sheet is applied, and nothing is loaded.
    var response: Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8",
                .cacheControl: CacheControl(.public(maxAge: .seconds(3_600))).description,
                .xContentTypeOptions: "nosniff", .contentSecurityPolicy: Self.policy,
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// Text as it stands in an element or in a quoted attribute.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    private static let style = """

        :root { color-scheme: light dark; --text: #1d1d22; --back: #fbfaf8; --link: #9a3412; --soft: #efece6 }
        @media (prefers-color-scheme: dark) { :root { --text: #e9e6e1; --back: #17161a; --link: #fdba74; --soft: #26252b } }
        body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
        main { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere }
        h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.1rem; margin-top: 1.75rem }
        a { color: var(--link) } li { margin: .35rem 0 } ul { padding-left: 1.25rem }
        code { background: var(--soft); padding: .1em .35em; border-radius: .25em }

        """

    private static let policy =
        "default-src 'none'; style-src 'sha256-\(Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString())'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
