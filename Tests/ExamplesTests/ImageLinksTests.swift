import Foundation
import Testing

@testable import DarkroomExamples

/// The example that writes signed URLs of a server.
struct ImageLinksTests {
    @Test func `The example signs as the function of twelve lines does`() throws {
        let secret = "correct-horse-battery-staple-0123"
        let links = try ImageLinks(server: "https://img.example.com", keyID: "k1", secret: secret)
        let expiry = Date(timeIntervalSince1970: 1_800_000_000)
        let url = try links.avatar(of: "https://example.com/photo.jpg", until: expiry)
        let parameters = [
            "url": "https://example.com/photo.jpg", "w": "96", "h": "96", "fit": "cover", "a": "attention",
            "output": "webp", "exp": "1800000000",
        ]
        let signed = sign(keyID: "k1", secret: secret, path: "/image", parameters: parameters)
        #expect(url.hasPrefix("https://img.example.com/image?url=https%3A%2F%2Fexample.com%2Fphoto.jpg&w=96"))
        #expect(url.hasSuffix(signed.suffix(49)))
    }
}
