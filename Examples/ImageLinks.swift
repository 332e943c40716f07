import Darkroom
import Foundation

/// Links to images on a Darkroom server, for the pages of a site.
struct ImageLinks {
    let urls: ImageServerURLs

    init(server: String, keyID: String, secret: String) throws {
        urls = try ImageServerURLs(server: server, keyID: keyID, secret: secret)
    }

    func avatar(of photo: String, until expiry: Date) throws -> String {
        var recipe = Recipe()
        recipe.box = Box(width: 96, height: 96)
        recipe.fit = .cover
        recipe.position = .attention
        let request = try ImageRequest(url: photo, recipe: recipe, output: OutputOptions(format: .webp))
        return try urls.url(for: request, expires: expiry)
    }
}
