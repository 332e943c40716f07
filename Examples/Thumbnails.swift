import Darkroom

struct Thumbnails {
    var pipeline = ImagePipeline()

    func thumbnail(of url: String) async throws -> ImageResponse {
        try await pipeline.image(for: ImageRequest(url: url, width: 400))
    }
}
