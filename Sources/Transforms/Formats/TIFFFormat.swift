import DarkroomRequests
import DarkroomVips

extension SourceFormat.Row {
    static let tiff = SourceFormat.Row(
        signatures: [
            [0x49, 0x49, 0x2A, 0x00], [0x4D, 0x4D, 0x00, 0x2A], [0x49, 0x49, 0x2B, 0x00], [0x4D, 0x4D, 0x00, 0x2B],
        ], loader: .tiff, hasPages: true, statesDensity: true,
        mayBeDrawing: { _ in true },
        bytes: { Double($0.sourceArea) },
        nanoseconds: {
            $0.readBytes < $0.storedPixels * 3 ? $0.storedPixels * 9 + $0.readBytes * 3.6 : $0.storedPixels * 6
        })
}

extension OutputFormat.Row {
    static let tiff = OutputFormat.Row(
        saver: .tiff,
        arguments: { _, _, strip in ["compression": "deflate", "strip": .bool(strip)] },
        bytes: { $0.resultPixels * $0.resultBands * 2 },
        nanosecondsPerPixel: { _, _ in 150 })
}
