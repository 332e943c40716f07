import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// `output=json`, as a client reads it.
struct SourceDocumentTests {
    private func document(
        _ source: ByteBuffer, _ details: ImageDetails = [], _ recipe: Recipe = Recipe()
    ) throws -> [String: Any] {
        let result = try produce(source, recipe, output: OutputOptions(format: .json, details: details))
        #expect(result.format == .json)
        #expect(result.isProven == !details.subtracting([.exif, .position]).isEmpty)
        let json = try JSONSerialization.jsonObject(with: Data(result.body.readableBytesView))
        return try #require(json as? [String: Any])
    }

    @Test func `A document describes a photo's header without its position`() throws {
        let source = try Fixture.image("sample.jpg")
        let document = try document(source)
        #expect(document["format"] as? String == "jpeg")
        #expect(document["mime_type"] as? String == "image/jpeg")
        #expect(document["bytes"] as? Int == source.readableBytes)
        #expect((document["sha256"] as? String)?.count == 64)
        #expect(document["width"] as? Int == 1067 && document["height"] as? Int == 1600)
        #expect(document["upright_width"] as? Int == 1600 && document["upright_height"] as? Int == 1067)
        #expect(document["orientation"] as? Int == 6)
        #expect(document["pages"] as? Int == 1)
        #expect(document["has_alpha"] as? Bool == false)
        #expect(document["bit_depth"] as? Int == 8)
        #expect(document["color_space"] as? String == "rgb")
        #expect(document["progressive"] as? Bool == false)
        #expect(document["chroma_subsampling"] as? String == "4:2:0")
        #expect((document["density"] as? [String: Double]) == ["x": 72, "y": 72])
        let metadata = try #require(document["metadata"] as? [String: String])
        #expect(metadata["artist"] == "Darkroom contributors")
        #expect(metadata["copyright"]?.hasPrefix("Copyright 2026 Darkroom contributors") == true)
        #expect(metadata["description"] == "A lake at dusk, drawn by a program")
        #expect(document["exif"] == nil && document["palette"] == nil && document["blurhash"] == nil)
        #expect(!"\(document)".contains("GPS") && !"\(document)".contains("46/1"))
    }

    @Test(arguments: [
        ("formats/progressive.jpg", "progressive", "1"), ("formats/interlaced.png", "progressive", "1"),
        ("formats/alpha.png", "has_alpha", "1"), ("color/twelve-bit.avif", "bit_depth", "12"),
        ("color/ten-bit.heic", "bit_depth", "10"), ("color/sixteen-bit.png", "bit_depth", "16"),
        ("color/cmyk.jpg", "color_space", "cmyk"), ("color/grey.png", "color_space", "grey"),
        ("animation/disposal.gif", "pages", "4"), ("animation/disposal.gif", "delays", "[100, 200, 300, 50]"),
        ("animation/pages.tiff", "pages", "3"), ("svg/drawing.svg", "mime_type", "image/svg+xml"),
        ("formats/photo.webp", "format", "webp"),
    ])
    func `Format-specific members are present`(name: String, member: String, value: String) throws {
        let found = try document(Fixture.image(name))[member]
        let text = (found as? [Int]).map { "\($0)" } ?? (found as? NSNumber).map { "\($0)" } ?? found as? String
        #expect(text == value)
    }

    @Test(arguments: ["formats/photo.webp", "formats/photo.avif", "svg/drawing.svg", "animation/disposal.gif"])
    func `Members that a format does not have are left out`(name: String) throws {
        let document = try document(Fixture.image(name))
        #expect(document["density"] == nil && document["chroma_subsampling"] == nil)
        #expect((document["delays"] == nil) == (name != "animation/disposal.gif"))
    }

    @Test(arguments: ["color/display-p3.jpg", "color/icc-swap.png", "formats/photo.jxl"])
    func `A profile is described by its name`(name: String) throws {
        let profile = try #require(try document(Fixture.image(name))["icc_profile"] as? String)
        #expect(!profile.isEmpty && profile.unicodeScalars.count <= 200)
        #expect(!profile.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test func `The color space that applies is stated, and HDR`() throws {
        func stated(_ chunks: [(String, [UInt8])], in name: String = "color/squares.png") throws -> [String: Any] {
            var file = PNGFile(try Fixture.image(name))
            for (type, content) in chunks { file.insert(type, content, before: "IDAT") }
            return try document(file.bytes)
        }
        let points = try stated([("cICP", [9, 16, 0, 1])])
        #expect(points["hdr"] as? Bool == true)
        let color = try #require(points["color"] as? [String: Any])
        #expect(color["primaries"] as? Int == 9 && color["transfer"] as? Int == 16 && color["matrix"] as? Int == 0)
        #expect(color["full_range"] as? Bool == true && color.count == 4)
        let gamma = try stated([("gAMA", [0, 0, 177, 143])])
        #expect(gamma["hdr"] as? Bool == false)
        #expect(gamma["color"] as? [String: Double] == ["gamma": 0.45455])
        let profile = try stated([("gAMA", [0, 0, 177, 143])], in: "color/icc-swap.png")
        #expect((profile["color"] as? [String: String])?["profile"] == profile["icc_profile"] as? String)
        #expect(profile["icc_profile"] != nil)
        let overruled = try stated([("cICP", [1, 13, 0, 1])], in: "color/icc-swap.png")
        #expect((overruled["color"] as? [String: Any])?["primaries"] as? Int == 1 && overruled["icc_profile"] == nil)
        #expect(try stated([])["color"] == nil)
    }

    @Test func `Texts are clipped, and stripped of control characters`() throws {
        let hostile = "a\u{1B}[31m\u{202E}\"}\\\n" + String(repeating: "é", count: 5_000)
        let source = try Drawing.flat(20, 20, [9, 9, 9]).setting(texts: [
            "exif-ifd0-Copyright": "\(hostile) (ASCII)", "exif-ifd0-Make": "\(hostile) (ASCII)",
        ]).jpeg()
        let metadata = try #require(try document(source)["metadata"] as? [String: String])
        #expect(!metadata.isEmpty)
        for text in metadata.values {
            #expect(text.unicodeScalars.count <= 200)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
            #expect(!text.unicodeScalars.contains { $0.properties.isBidiControl })
        }
    }

    @Test func `A file truncated after its header is still described`() throws {
        let document = try document(Fixture.image("hostile/truncated.jpg"))
        #expect(document["format"] as? String == "jpeg")
        #expect(throws: ImageProcessingError.self) {
            try self.document(Fixture.image("hostile/truncated.jpg"), .color)
        }
        #expect(throws: ImageProcessingError.self) { try self.document(Fixture.image("hostile/text.jpg")) }
    }

    @Test func `A document has exactly the requested details`() throws {
        let source = try Fixture.image("sample.jpg")
        let members: [(ImageDetails, Set<String>)] = [
            (.color, ["dominant_color", "average_color"]), (.palette, ["palette"]), (.blurHash, ["blurhash"]),
            (.thumbHash, ["thumbhash"]), (.lqip, ["lqip"]), (.exif, ["exif"]),
        ]
        let plain = Set(try document(source).keys)
        for (details, added) in members {
            #expect(Set(try document(source, details).keys) == plain.union(added))
        }
        #expect(Set(try document(source, .all).keys) == members.reduce(plain) { $0.union($1.1) })
    }

    @Test func `Camera settings are numbers`() throws {
        let source = try Drawing.flat(20, 20, [9, 9, 9]).setting(texts: [
            "exif-ifd0-Make": "Nikon (ASCII)", "exif-ifd2-ExposureTime": "1/125 (x)", "exif-ifd2-FNumber": "28/10 (x)",
            "exif-ifd2-ISOSpeedRatings": "400 (x)", "exif-ifd2-FocalLength": "1/0 (x)",
            "exif-ifd2-DateTimeOriginal": "2024:05:31 18:30:00 (ASCII)",
        ]).jpeg()
        let document = try document(source, .exif)
        let camera = try #require(document["exif"] as? [String: Any])
        #expect(camera["exposure_seconds"] as? Double == 0.008)
        #expect(camera["f_number"] as? Double == 2.8)
        #expect(camera["iso"] as? Int == 400)
        #expect(camera["focal_length_mm"] == nil)
        let metadata = try #require(document["metadata"] as? [String: String])
        #expect(metadata["make"] == "Nikon" && metadata["taken"] == "2024-05-31T18:30:00")
    }

    @Test(arguments: [ImageDetails.all, .exif, .color, []])
    func `A position is present only if it is requested by name`(details: ImageDetails) throws {
        let source = try Fixture.image("sample.jpg")
        let told = try document(source, details.union(.position))["gps"] as? [String: Double]
        #expect(told == ["latitude": 46.5, "longitude": 8.25])
        #expect(try document(source, details)["gps"] == nil)
        #expect(try document(Fixture.image("formats/photo.jpg"), details.union(.position))["gps"] == nil)
    }

    @Test func `A document is deterministic and contains the source's hash`() throws {
        let options = OutputOptions(format: .json, details: .all)
        let source = try Fixture.image("formats/photo.jpg")
        #expect(try produce(source, output: options).body == produce(source, output: options).body)
        let hash = try document(ByteBuffer(buffer: Drawing.flat(1, 1, [0]).png()))["sha256"] as? String
        #expect(hash?.allSatisfy { $0.isHexDigit } == true)
    }
}
