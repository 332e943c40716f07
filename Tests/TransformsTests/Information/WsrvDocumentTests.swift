import DarkroomRequests
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The JSON document with the members of weserv/images.
struct WsrvDocumentTests {
    private func document(_ name: String, _ recipe: Recipe = Recipe()) throws -> [String: Any] {
        let body = try produce(
            Fixture.image(name), recipe, output: OutputOptions(format: .json, details: .wsrv)
        ).body
        let json = try JSONSerialization.jsonObject(with: Data(body.readableBytesView))
        return try #require(json as? [String: Any])
    }

    @Test func `It describes the result, in whole frames below each other`() throws {
        let photo = try document("sample.jpg", .box(300, 200, fit: .cover))
        #expect(photo["format"] as? String == "jpeg")
        #expect(photo["width"] as? Int == 300 && photo["height"] as? Int == 200)
        #expect(
            photo["space"] as? String == "srgb" && photo["channels"] as? Int == 3
                && photo["depth"] as? String == "uchar")
        #expect(photo["isProgressive"] as? Bool == false && photo["hasAlpha"] as? Bool == false)
        #expect(photo["chromaSubsampling"] as? String != nil)
        let animation = try document("animation/disposal.gif")
        let height = try #require(animation["pageHeight"] as? Int)
        let pages = try #require(animation["pages"] as? Int)
        #expect(pages > 1 && animation["height"] as? Int == height * pages)
        #expect((animation["delay"] as? [Int])?.count == pages)
        #expect(animation["loop"] != nil)
    }

    @Test func `An upright image has no orientation, and HEIC and AVIF are one format`() throws {
        #expect(try document("orientation/f-6.jpg")["orientation"] as? Int == 0)
        #expect(try document("formats/photo.avif")["format"] as? String == "heif")
        #expect(try document("formats/alpha.png")["hasAlpha"] as? Bool == true)
    }
}
