import DarkroomRequests
import Testing

@testable import DarkroomCommand

/// Names and formats of the results of `darkroom transform`.
@Suite struct ResultNameTests {
    @Test(arguments: [
        ("a.jpg", "a.jpg", OutputFormat.jpeg), ("IMG_1.JPEG", "IMG_1.JPEG", .jpeg), ("a.tif", "a.tif", .tiff),
        ("a.webp", "a.webp", .webp), ("a.heic", "a.jpg", .jpeg), ("a.HEIF", "a.jpg", .jpeg), ("a.svg", "a.png", .png),
        ("a.svgz", "a.png", .png), ("a.bmp", "a.png", .png), ("a", "a.png", .png), ("photo.v2", "photo.v2.png", .png),
        (".jpg", ".jpg.png", .png), ("a.", "a..png", .png), ("a.b.gif", "a.b.gif", .gif),
    ])
    func `Without a format, the extension decides`(name: String, result: String, format: OutputFormat) {
        let names = ResultName(format: nil)
        #expect(names.name(for: name) == result)
        #expect(names.format(for: name) == format)
    }

    @Test(arguments: [
        ("a.jpg", OutputFormat.webp, "a.webp"), ("a.JPG", .jpeg, "a.JPG"), ("a.jpeg", .jpeg, "a.jpeg"),
        ("a.png", .jpeg, "a.jpg"), ("a.tiff", .tiff, "a.tiff"), ("a.png", .tiff, "a.tiff"), ("a", .avif, "a.avif"),
        ("photo.v2", .webp, "photo.v2.webp"), ("a.jpg", .json, "a.json"), ("a.jpg", .blurHash, "a.txt"),
        ("a.jpg", .lqip, "a.txt"), ("ä ö.png", .webp, "ä ö.webp"),
    ])
    func `A format gives every result its extension`(name: String, format: OutputFormat, result: String) {
        #expect(ResultName(format: format).name(for: name) == result)
        #expect(ResultName(format: format).format(for: name) == format)
    }
}
