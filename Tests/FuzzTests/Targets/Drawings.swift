import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `A drawing in another form is a drawing`() {
        let seeds = [
            "<svg width='1in' height='2.5cm'><style>:root{--c:#0f0}.a{fill:var(--c,red);x:.5mm}</style><a style='x:1pt'/></svg>",
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg><image href='data:image/webp;base64,UklGRj4AAABXRUJQVlA4TDEA&#10;AAA='/></svg>",
            "<svg><image href=\"data:image/svg+xml,%3Csvg%3E%3Cimage href='data:;base64,R0lGODlh'/%3E%3C/svg%3E\"/></svg>",
            "<svg><foreignObject requiredExtensions=''/><!-- <style> --><style><![CDATA[a>b{--x:var(--x)}]]></style></svg>",
        ]
        let words = [
            "var(--c)", "--c:", "1in", "<style>", "</style>", "<![CDATA[", "href='data:,", "'", "\"", "<!--", "url(",
        ]
        fuzzer.run("svg", seeds: seeds, words: words) { input in
            let plain = ByteBuffer(bytes: input)
            let document = SVGDocument(plain)
            // Each of a few kilobytes may become a value of a variable.
            try hold(document.bytes.readableBytes <= input.count * 8 + (4 << 20), "it grew")
            let (images, gaps) = document.measuredImages()
            try hold(images.pixels <= SVGDocument.Images.maxPixels && gaps.isSubset(of: .all), "\(images) \(gaps)")
            _ = document.drawn { false }
        }
    }
}
