import DarkroomRequests
import DarkroomVips

// Formats that are read only, and texts, which are written only.

extension SourceFormat.Row {
    static let svg = SourceFormat.Row(
        mediaType: "image/svg+xml", extensions: ["svg", "svgz"], loader: .svg, isVector: true,
        // The tree of the document takes many times the document's own bytes: 1,540 for an element, and 2 (embedded
        // images) to 48 (short commands of a path) for a byte.
        mayBeDrawing: { _ in true },
        // Embedded images are held as pixels twice, as PNG and as text.
        bytes: {
            $0.rasterPixels + 1600 * Double($0.tags) + 25 * Double($0.plainBytes) + 20 * Double($0.embeddedPixels)
        },
        // A byte of an embedded image takes less time than a byte of elements.
        nanoseconds: {
            $0.rasterPixels * (15 + $0.filterNanosecondsPerPixel) + max($0.readBytes, Double($0.plainBytes)) * 400
                - Double($0.embeddedBytes) * 150 + Double($0.embeddedPixels) * 250
        })

    static let bmp = SourceFormat.Row(
        extensions: ["bmp"],
        // Text may begin with these letters, but no text has zeros in the length of the second header.
        signatures: [Array("BM".utf8) + Array(repeating: nil, count: 13) + [0, 0, 0]], statesDensity: true,
        mayBeDrawing: { _ in true },
        bytes: { _ in 0 },
        nanoseconds: { $0.storedPixels * 29 })

    static let ico = SourceFormat.Row(
        mediaType: "image/vnd.microsoft.icon", extensions: ["ico"], statesOrientation: false, output: .png,
        mayBeDrawing: { _ in true },
        bytes: { Double($0.rasterBytes) },
        nanoseconds: { $0.rasterPixels * 20 })
}

extension OutputFormat.Row {
    static let text = OutputFormat.Row(nanosecondsPerPixel: { _, _ in 5 })
}
