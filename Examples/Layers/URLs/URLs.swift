import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests
import Foundation

/// The signed URL of a square image on a Darkroom server.
func avatarURL(of photo: String, on urls: ImageServerURLs, until expiry: Date) throws -> String {
    var recipe = Recipe()
    recipe.box = Box(width: 96, height: 96)
    recipe.fit = .cover
    recipe.position = .attention
    let request = ImageRequest(
        source: try SourceURL(parsing: photo), recipe: recipe, output: OutputOptions(format: .webp))
    return try urls.url(for: request, expires: expiry)
}
