import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import DarkroomTransforms
import Foundation
import Testing

@testable import DarkroomQuery

/// URLs that a program makes of requests.
struct ImageServerURLsTests {
    private static let secret = "correct-horse-battery-staple-0123"

    private func request(_ change: (inout ImageRequest) -> Void = { _ in }) throws -> ImageRequest {
        var request = try ImageRequest(url: "https://a.org/x y.jpg?b=1&c=2")
        change(&request)
        return request
    }

    @Test func `A request becomes the canonical query, from which the server makes the same image`() throws {
        let request = try request {
            $0.recipe.box = Box(width: 96, height: 48)
            $0.recipe.fit = .cover
            $0.recipe.position = .attention
            $0.recipe.padding = Padding(4)
            $0.recipe.flip = true
            $0.output.format = .webp
            $0.output.quality = 70
            $0.pages.first = 2
            $0.placeholders = .blurHash
        }
        let url = try ImageServerURLs(server: "https://img.example.com/media/").url(for: request)
        let source = "https%3A%2F%2Fa.org%2Fx%2520y.jpg%3Fb%3D1%26c%3D2"
        #expect(url.hasPrefix("https://img.example.com/media/image?url=\(source)&"))
        let query = try ImageQueryGrammar().parse(String(url.split(separator: "?", maxSplits: 1)[1]))
        var read = try query.sourceRequest(SourceMap())
        query.apply(to: &read, for: ClientPreferences(), policy: RequestCachePolicy())
        #expect(read.source == request.source)
        let limits = PixelLimits()
        let chains = [read, request].map { TransformChain($0.recipe, limits: limits).key }
        #expect(chains[0] == chains[1])
        #expect(read.output.key == request.output.key && read.pages == request.pages)
        #expect(query.placeholders == .blurHash)
    }

    @Test func `A key signs until a time, and the server accepts it until then`() throws {
        let urls = try ImageServerURLs(keyID: "k1", secret: Self.secret)
        let expiry = Date(timeIntervalSince1970: 1_800_000_000)
        let image = try urls.url(for: request { $0.recipe.box = Box(width: 9, height: nil) }, expires: expiry)
        let preset = urls.url(of: "photos:/a b.jpg", preset: "avatar")
        #expect(preset.hasPrefix("/image?url=photos%3A%2Fa%20b.jpg&preset=avatar&s=k1."))
        var presets = Presets()
        try presets.add("avatar", "w=96", limits: QueryLimits())
        let authorizer = Authorizer(
            keys: [try SigningKey(id: "k1", secret: Self.secret)], presets: presets, presetsOnly: false)
        for (url, time) in [(image, expiry - 1), (preset, Date.distantFuture)] {
            let query = try QueryString(parsing: String(url.dropFirst("/image?".count)))
            let authorization = try authorizer.authorize(query, path: "/image", presets: .accepted, isAdmin: false)
            #expect(authorization.key?.id == "k1")
            try authorization.requireCurrent(at: time)
            #expect(authorization.remaining(at: expiry) == (url == image ? .zero : nil))
        }
    }

    @Test func `What no URL expresses is refused with a sentence`() throws {
        let urls = ImageServerURLs()
        #expect(try urls.url(for: request()) == "/image?url=https%3A%2F%2Fa.org%2Fx%2520y.jpg%3Fb%3D1%26c%3D2")
        func refusal(_ request: ImageRequest) -> String {
            do throws(ImageServerURLs.Refusal) {
                return try urls.url(for: request)
            } catch {
                return error.description
            }
        }
        #expect(refusal(ImageRequest(data: SourceData(Data([1])))).contains("POST /image"))
        #expect(refusal(try request { $0.recipe.box = Box(width: 9000, height: nil) }).contains("8192"))
        // The parameters name nine anchors, and say other points as focal points.
        let anchored = try request {
            $0.recipe.box = Box(width: 9, height: 9)
            $0.recipe.fit = .cover
            $0.recipe.position = .anchor(x: 0.3, y: 0.3)
        }
        #expect(refusal(anchored).contains("no parameter"))
        // A mark without its image, and steps of other services that Darkroom's parameters do not have.
        #expect(refusal(try request { $0.recipe.mark = Mark() }).contains("no parameter"))
        #expect(refusal(try request { $0.recipe.trim = .animated }).contains("no parameter"))
        // Values without an effect are left out.
        let turned = try request {
            ($0.recipe.cornerBackground, $0.recipe.position) = (.white, .anchor(x: 0.3, y: 0.3))
        }
        #expect(refusal(turned) == refusal(try request()))
        #expect(throws: ImageServerURLs.Refusal.self) { try ImageServerURLs(keyID: "k 1", secret: Self.secret) }
        #expect(throws: ImageServerURLs.Refusal.self) { try ImageServerURLs(keyID: "k1", secret: "short") }
    }
}

extension Trim {
    /// A border that only weserv/images removes from columns alone.
    fileprivate static var animated: Trim {
        var trim = Trim(threshold: 10)
        trim.keepsHeightOfAnimations = true
        return trim
    }
}
