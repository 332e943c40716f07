import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import NIOCore

/// What the document of `/info` says about a source that the IIIF document depends on.
struct IIIFSource: Decodable {
    private let width: Int
    private let height: Int
    private let colorSpace: String

    private enum CodingKeys: String, CodingKey {
        case width = "upright_width"
        case height = "upright_height"
        case colorSpace = "color_space"
    }

    init(_ information: ImageResponse) throws(Problem) {
        guard let source = try? JSONDecoder().decode(Self.self, from: Data(information.body.readableBytesView)),
            SourceSummary.sides.contains(source.width), SourceSummary.sides.contains(source.height)
        else { throw .internalError }
        self = source
    }

    /// In upright orientation.
    var size: PixelSize { PixelSize(width: width, height: height) }
    var isGray: Bool { colorSpace == "grey" }
}

/// `info.json` (IIIF Image API 3.0 §5).
struct IIIFDocument: Encodable {
    struct Size: Encodable {
        let width: Int
        let height: Int
    }

    struct Tiles: Encodable {
        let width: Int
        let height: Int
        let scaleFactors: [Int]
    }

    let context = "http://iiif.io/api/image/3/context.json"
    let id: String
    let type = "ImageService3"
    let `protocol` = "http://iiif.io/api/image"
    let profile = "level2"
    let width: Int
    let height: Int
    /// The greatest height too.
    let maxWidth: Int
    let maxArea: Int
    let sizes: [Size]
    let tiles: [Tiles]
    let extraQualities: [String]
    let extraFormats: [String]
    /// The features that level 2 does not include.
    let extraFeatures = [
        "canonicalLinkHeader", "mirroring", "profileLinkHeader", "rotationArbitrary", "sizeUpscaling",
    ]

    enum CodingKeys: String, CodingKey {
        // Encoded first, as §5.2 recommends, because keys are sorted.
        case context = "@context"
        case id, type, `protocol`, profile, width, height, maxWidth, maxArea, sizes, tiles, extraQualities
        case extraFormats, extraFeatures
    }

    init(id: String, _ source: IIIFSource, limits: PixelLimits, unwritable: Set<OutputFormat>) {
        let pyramid = IIIFPyramid(full: source.size, limits: limits)
        self.id = id
        (width, height) = (source.size.width, source.size.height)
        (maxWidth, maxArea) = (limits.maxOutputSide, limits.maxOutputPixels)
        sizes = pyramid.sizes.map { Size(width: $0.width, height: $0.height) }
        tiles = [Tiles(width: pyramid.tileSide, height: pyramid.tileSide, scaleFactors: pyramid.scaleFactors)]
        extraQualities = source.isGray ? ["gray", "bitonal"] : ["color", "gray", "bitonal"]
        extraFormats = IIIFFormat.all(without: unwritable).map(\.name).filter { !["jpg", "png"].contains($0) }
    }
}

extension ImageResponse {
    /// Replaces the document of `/info` by the IIIF document.
    ///
    /// - Parameter type: part of the entity tag, since the same bytes of another type are another representation.
    mutating func show(_ document: IIIFDocument, as type: IIIFMediaType) {
        body = .json(document, keys: .useDefaultKeys)
        digest = StoreKey(hashing: Array(body.readableBytesView) + Array(type.rawValue.utf8)).hex
        // Settings change the document too, so that the source's date is not the document's.
        lastModified = nil
    }
}
