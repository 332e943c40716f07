import DarkroomRequests
import DarkroomTestOrigin
import DarkroomTransforms
import Foundation
import NIOCore
import NIOFoundationCompat
import Testing

/// The IIIF Image API on the built executable and a real socket, with pixels.
@Suite(.timeLimit(.minutes(5)))
struct IIIFRouteTests {
    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--iiif", "true", "--source-map", "f=local:///", "--local-root", URL.fixtures.path] + flags)
    }

    /// A picture of 120×160 pixels, stored on its side, with a red, a green, a blue and a yellow corner.
    private static let turned = "f:orientation%2Ff-6.png"

    /// The color of an image around a point.
    private func color(_ body: ByteBuffer, _ x: Int, _ y: Int) throws -> String {
        var recipe = Recipe()
        recipe.crop = Crop(x: x - 4, y: y - 4, width: 8, height: 8)
        let job = ImageJob(source: body, chain: TransformChain(recipe), output: OutputOptions(format: .color))
        return String(buffer: try InProcessImageProcessor().process(job) { false }.body)
    }

    private func size(_ body: ByteBuffer) throws -> PixelSize { try SourceHeader(of: body).size }

    @Test func `Regions, sizes and rotations show the right pixels of the upright picture`() async throws {
        let server = try await server()
        let (red, green, blue, yellow) = ("#e00000", "#00a000", "#0000e0", "#e0c000")
        let rows: [(path: String, width: Int, height: Int, point: (Int, Int), color: String)] = [
            ("full/max/0", 120, 160, (12, 12), red), ("full/max/0", 120, 160, (108, 12), green),
            ("4,4,16,16/max/0", 16, 16, (8, 8), red), ("100,4,16,16/max/0", 16, 16, (8, 8), green),
            ("4,140,16,16/max/0", 16, 16, (8, 8), blue), ("100,140,200,200/max/0", 20, 20, (8, 8), yellow),
            ("pct:80,85,20,15/max/0", 24, 24, (12, 12), yellow), ("square/max/0", 120, 120, (60, 60), ""),
            ("full/60,/0", 60, 80, (6, 6), red), ("full/%5E!480,480/0", 360, 480, (36, 444), blue),
            ("full/120,80/0", 120, 80, (108, 74), yellow), ("full/max/90", 160, 120, (147, 12), red),
            ("full/max/180", 120, 160, (107, 147), red), ("full/max/270", 160, 120, (12, 107), red),
            ("full/max/!0", 120, 160, (107, 12), red), ("full/max/!90", 160, 120, (147, 107), red),
            ("full/max/!180", 120, 160, (12, 147), red),
        ]
        for row in rows {
            let answer = try await Client.get("\(server.base)/iiif/\(Self.turned)/\(row.path)/default.png")
            #expect(answer.status == 200, "\(row.path)")
            #expect(try size(answer.body) == PixelSize(width: row.width, height: row.height), "\(row.path)")
            guard !row.color.isEmpty else { continue }
            #expect(try color(answer.body, row.point.0, row.point.1) == row.color, "\(row.path)")
        }
    }

    @Test func `Every orientation has the size of the upright picture`() async throws {
        let server = try await server()
        for name in ["f-1.jpg", "f-5.jpg", "f-6.avif", "f-6.heic", "f-6.tiff", "f-8.jpg"] {
            let answer = try await Client.get("\(server.base)/iiif/f:orientation%2F\(name)/info.json")
            let text = String(buffer: answer.body)
            #expect(text.contains(#""width":120"#) && text.contains(#""height":160"#), "\(name)")
            #expect(text.contains("\"id\":\"\(server.base)/iiif/f:orientation%2F\(name)\""))
        }
    }

    /// The members of `info.json` from which viewers make URLs.
    private struct Document: Decodable {
        struct Size: Decodable {
            var width: Int
            var height: Int
        }

        struct Tiles: Decodable {
            var width: Int
            var height: Int?
            var scaleFactors: [Int]
        }

        var width: Int
        var height: Int
        var sizes: [Size]?
        var tiles: [Tiles]?
        var extraFormats: [String]
        var extraQualities: [String]

        /// The paths behind the identifier of all images that the document names.
        var paths: [String] {
            let formats = (["jpg", "png"] + extraFormats).map { "full/max/0/default.\($0)" }
            let qualities = extraQualities.map { "full/max/0/\($0).jpg" }
            let whole = (sizes ?? []).map { "full/\($0.width),\($0.height)/0/default.jpg" }
            return formats + qualities + whole + (tiles ?? []).flatMap(paths(of:))
        }

        private func paths(of tiles: Tiles) -> [String] {
            tiles.scaleFactors.flatMap { factor -> [String] in
                let (across, down) = (tiles.width * factor, (tiles.height ?? tiles.width) * factor)
                return stride(from: 0, to: height, by: down).flatMap { y -> [String] in
                    stride(from: 0, to: width, by: across).map { x -> String in
                        let (w, h) = (min(across, width - x), min(down, height - y))
                        let size = "\((w + factor - 1) / factor),\((h + factor - 1) / factor)"
                        return "\(x),\(y),\(w),\(h)/\(size)/0/default.jpg"
                    }
                }
            }
        }
    }

    @Test func `Every size, tile, format and quality of the document is answered`() async throws {
        // Long enough for a machine that is busy with other work.
        let server = try await server(["--request-timeout", "4m"])
        for name in [
            "sample.jpg", "formats%2Fphoto.avif", "formats%2Falpha.png", "animation%2Fdisposal.gif",
            "svg%2Fdrawing.svg", "geometry%2F1000x1.jpg", "orientation%2Ff-6.heic",
        ] {
            let image = "\(server.base)/iiif/f:\(name)"
            let information = try await Client.get("\(image)/info.json")
            let document = try JSONDecoder().decode(Document.self, from: information.body)
            for path in document.paths {
                let answer = try await Client.get("\(image)/\(path)")
                #expect(answer.status == 200, "\(name) \(path): \(String(buffer: answer.body).prefix(200))")
            }
        }
        #expect(await server.stop() == 0)
    }

    @Test func `Qualities and formats are what they say`() async throws {
        let server = try await server()
        let image = "\(server.base)/iiif/f:color%2Fsquares.png/full/max/0"
        let gray = try await Client.get("\(image)/gray.png")
        let shade = try color(gray.body, 25, 25)
        #expect(Set([shade.dropFirst().prefix(2), shade.dropFirst(3).prefix(2), shade.suffix(2)]).count == 1)
        let bitonal = try await Client.get("\(image)/bitonal.png")
        for x in stride(from: 25, to: 200, by: 50) {
            #expect(["#000000", "#ffffff"].contains(try color(bitonal.body, x, 25)))
        }
        #expect(try color(bitonal.body, 125, 25) == "#ffffff" && color(bitonal.body, 25, 25) == "#000000")
        for (name, type) in [
            ("jpg", "jpeg"), ("png", "png"), ("webp", "webp"), ("gif", "gif"), ("tif", "tiff"), ("avif", "avif"),
            ("jxl", "jxl"),
        ] {
            #expect(try await Client.get("\(image)/default.\(name)")["content-type"] == "image/\(type)")
        }
        let animated = try await Client.get("\(server.base)/iiif/f:animation%2Fdisposal.gif/full/max/0/default.webp")
        #expect(animated.status == 200)
        #expect(try SourceHeader(of: animated.body).frames == 1)
    }

    @Test func `Spellings of an image share a cache entry, and rotated corners are transparent`() async throws {
        let server = try await server()
        let image = "\(server.base)/iiif/\(Self.turned)"
        let first = try await Client.get("\(image)/full/60,/22.5/default.png")
        let second = try await Client.get("\(image)/pct:0,0,100,100/pct:50/22.5/color.png")
        #expect(first["cache-status"]?.contains("fwd=miss") == true)
        #expect(second["cache-status"]?.hasPrefix("darkroom;hit") == true)
        #expect(first.body == second.body && first["link"] == second["link"])
        #expect(first["link"]?.hasSuffix("/full/60,80/22.5/default.png>;rel=\"canonical\"") == true)
        let canonical = try #require(first["link"]?.split(separator: "<").last?.prefix { $0 != ">" })
        #expect(try await Client.get(server.base + canonical).body == first.body)
    }

    @Test func `Guards and limits hold as on other paths, and the log does not tell the source`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        origin.answer("/none.jpg", .status("404 Not Found"))
        origin.answer("/stale.jpg", try .picture("sample.jpg", "Cache-Control: max-age=0", "ETag: \"a\""))
        let server = try await server([
            "--allow-networks", "127.0.0.0/8", "--allow-hosts", "127.0.0.1", "--max-source-pixels", "2000000",
            "--log-level", "info",
        ])
        func status(_ source: String, _ rest: String) async throws -> Int {
            let identifier = source.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try await Client.get("\(server.base)/iiif/\(identifier)/\(rest)").status
        }
        for rest in ["info.json", "full/max/0/default.jpg"] {
            #expect(try await status(origin.url("/a.jpg?token=secret"), rest) == 200)
            #expect(try await status(origin.url("/none.jpg"), rest) == 404)
            #expect(try await status("http://10.1.2.3/a.jpg", rest) == 403)
            #expect(try await status("local:///nothing.jpg", rest) == 404)
            #expect(try await status("local:///hostile/page.png", rest) == 415)
            #expect(try await status("local:///hostile/bomb.png", rest) == 413)
            #expect(try await status("local:///hostile/truncated.jpg", rest) == 422)
        }
        #expect(try await status("local:///sample.jpg", "full/%5E9000,/0/default.jpg") == 400)
        #expect(origin.requests.count { $0.target.hasPrefix("/a.jpg") } == 1)
        // Once for the size, and not again for the image.
        for asked in 1...2 {
            #expect(try await status(origin.url("/stale.jpg"), "full/max/0/default.jpg") == 200)
            #expect(origin.requests.count { $0.target == "/stale.jpg" } == asked)
        }
        #expect(await server.stop() == 0)
        #expect(!server.log.contains("secret") && server.log.contains("/iiif/…"))
    }
}
