import DarkroomQuery
import Foundation

/// The playground as one document, put together from the files of `Playground`.
enum PlaygroundPage {
    /// What the page has to know about its server before it sends a request.
    struct Server: Encodable {
        /// The parameters of `/image`. Controls of others are left out.
        var parameters: [ParameterSummary]
        /// Whether ``SampleImages`` are available.
        var hasSampleImages: Bool
        /// Whether queries of `/image` have to say that their parameters are Darkroom's.
        var hasOtherDialect = false
        /// Formats of `output` that the server cannot write. Their controls are left out.
        var unwritable: [String] = []
    }

    static func document(for server: Server) -> [UInt8] {
        Array(frame.joined(separator: json(server)).utf8)
    }

    /// What precedes and follows the statement about the server.
    private static let frame: [String] = text(PackageResources.page_html)
        .replacing("{{styles}}", with: "\n" + styles.map(text).joined(separator: "\n"))
        .replacing("{{scripts}}", with: "\n" + scripts.map(text).joined(separator: "\n"))
        .components(separatedBy: "{{server}}")

    private static var styles: [[UInt8]] {
        [
            PackageResources.base_css, PackageResources.page_css, PackageResources.stage_css,
            PackageResources.controls_css, PackageResources.panels_css, PackageResources.views_css,
        ]
    }

    /// One script for the browser; what a file runs at once needs only the files before it.
    private static var scripts: [[UInt8]] {
        [
            PackageResources.helpers_js, PackageResources.requests_js, PackageResources.trouble_js,
            PackageResources.state_js, PackageResources.image_js, PackageResources.tools_js, PackageResources.fields_js,
            PackageResources.controls_js, PackageResources.samples_js, PackageResources.foreign_js,
            PackageResources.figures_js, PackageResources.panels_js, PackageResources.code_js,
            PackageResources.swift_js,
            PackageResources.formats_js, PackageResources.placeholders_js, PackageResources.explain_js,
            PackageResources.token_js, PackageResources.cache_js, PackageResources.prefetch_js,
            PackageResources.start_js,
        ]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// JSON that may stand in a script element, which any `</script` or `<!--` in it would end or change.
    private static func json(_ server: Server) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(server)).map { text(Array($0)).replacing("<", with: "\\u003c") } ?? "{}"
    }
}
