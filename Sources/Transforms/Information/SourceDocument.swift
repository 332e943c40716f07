package import DarkroomRequests
import DarkroomVips
import Foundation
package import NIOCore

/// The JSON document about a source, with its members in snake case. Members with an unknown value are left out.
struct SourceDocument: Encodable {
    let format: String
    let mimeType: String
    let bytes: Int
    /// 64 hexadecimal digits.
    let sha256: String
    /// As stored, before orientation; one frame.
    let width: Int
    let height: Int
    let uprightWidth: Int
    let uprightHeight: Int
    /// EXIF orientation 1…8.
    let orientation: Int
    /// Frames or pages.
    let pages: Int
    /// The duration of each frame in milliseconds.
    let delays: [Int]?
    /// How many times an animation plays; 0 = indefinitely.
    let loop: Int?
    let hasAlpha: Bool
    /// Bits per sample, at least 8.
    let bitDepth: Int
    /// `rgb`, `grey`, `cmyk`, `lab` or `other`.
    let colorSpace: String
    /// The description of the embedded ICC profile.
    let iccProfile: String?
    /// The color space that applies; nil if the file states none, which means sRGB.
    let color: ColorDocument?
    /// Whether the image is HDR (PQ or HLG), which results show tone-mapped.
    let hdr: Bool
    let density: Density?
    /// Whether the file is progressive or interlaced.
    let progressive: Bool
    /// In JPEG's notation, such as `4:2:0`.
    let chromaSubsampling: String?
    /// What of an SVG is not drawn as browsers draw it; nil = nothing is known to differ.
    let undrawn: [String]?
    let metadata: Metadata
    /// Whether there is a C2PA manifest, which results do not keep.
    let c2pa: Bool
    let exif: CameraSettings?
    let gps: GPSPosition?
    var dominantColor: String?
    var averageColor: String?
    var palette: [String]?
    var blurhash: String?
    var thumbhash: String?
    var lqip: String?
    var faces: [FaceDocument]?

    /// The name of a profile, code points of ITU-T H.273, or PNG's gamma and chromaticities.
    struct ColorDocument: Encodable {
        var profile: String?
        var primaries, transfer, matrix: Int?
        var fullRange: Bool?
        var gamma: Double?
        /// x and y of white, red, green and blue.
        var chromaticities: [Double]?

        /// - Parameters:
        ///   - stated: the color space without a profile.
        ///   - profile: the name of the profile.
        init?(_ stated: (code: ColorCode, isFirst: Bool)?, _ image: VipsImage, profile: String?) {
            let hasProfile = image.has("icc-profile-data")
            guard let (code, isFirst) = stated, isFirst || !hasProfile else {
                guard hasProfile else { return nil }
                self.profile = profile ?? "unnamed"
                return
            }
            switch code {
            case .codePoints(let points):
                (primaries, transfer, matrix) = (points.primaries, points.transfer, points.matrix)
                fullRange = points.isFullRange
            case .measured(let gamma, let chromaticities):
                self.gamma = Double(gamma) / 100_000
                self.chromaticities = chromaticities.map { points in
                    [points.white, points.red, points.green, points.blue].flatMap { [$0.x, $0.y] }
                }
            }
        }
    }

    /// A face in pixels of the upright source.
    struct FaceDocument: Encodable {
        let x, y, width, height: Int
        /// The score of the detector, in hundredths; more is more certain.
        let confidence: Double

        init(_ face: Face, of source: PixelSize) {
            let place = { (share: Double, side: Int) in Int((share * Double(side)).rounded()) }
            (x, y) = (place(face.left, source.width), place(face.top, source.height))
            (width, height) = (place(face.right, source.width) - x, place(face.bottom, source.height) - y)
            confidence = (face.confidence * 100).rounded() / 100
        }
    }

    /// Pixels per inch.
    struct Density: Encodable {
        let x: Double
        let y: Double

        /// - Parameter density: pixels per millimeter; libvips reports 1 if the file states none.
        init?(_ density: (x: Double, y: Double)) {
            let stated = [density.x, density.y]
            guard stated != [1, 1], stated.allSatisfy({ $0.isFinite && $0 > 0 && $0 < 1e6 }) else { return nil }
            func perInch(_ value: Double) -> Double { (value * 2540).rounded() / 100 }
            (x, y) = (perInch(density.x), perInch(density.y))
        }
    }

    /// Texts from EXIF, IPTC or XMP. The position is not part of them.
    struct Metadata: Encodable {
        let make: String?
        let model: String?
        /// `2024-05-31T18:30:00`, in the camera's time zone.
        let taken: String?
        let copyright: String?
        let artist: String?
        let description: String?
        let credit: String?
        let usageTerms: String?
        let webStatement: String?
        let licensorUrl: String?
        let digitalSourceType: String?
    }

    /// The camera's settings, from EXIF.
    struct CameraSettings: Encodable {
        let exposureSeconds: Double?
        let fNumber: Double?
        let iso: Int?
        let focalLengthMm: Double?
        let lens: String?
        let software: String?

        init(_ embedded: EmbeddedMetadata) {
            exposureSeconds = embedded.exifNumber("exif-ifd2-ExposureTime")
            fNumber = embedded.exifNumber("exif-ifd2-FNumber")
            iso = embedded.exifNumber("exif-ifd2-ISOSpeedRatings").flatMap { Int(exactly: $0) }
            focalLengthMm = embedded.exifNumber("exif-ifd2-FocalLength")
            lens = embedded.exif("exif-ifd2-LensModel")
            software = embedded.exif("exif-ifd0-Software")
        }
    }
}

extension SourceDocument {
    /// Reads the document's members from the source's header. No pixel is decoded.
    init(of job: ImageJob, _ header: SourceHeader) throws(ImageProcessingError) {
        self = try header.withFields(of: job.source) { image in SourceDocument(of: job, header, image) }
    }

    private init(of job: ImageJob, _ header: SourceHeader, _ image: VipsImage) {
        let embedded = EmbeddedMetadata(of: image, maxLength: 200)
        let upright = (5...8).contains(header.orientation) ? header.size.transposed : header.size
        format = header.format.rawValue
        mimeType = header.format.mediaType
        bytes = job.source.readableBytes
        sha256 = job.identity ?? SourceDigest.Algorithm.sha256.hex(of: job.source)
        (width, height) = (header.size.width, header.size.height)
        (uprightWidth, uprightHeight) = (upright.width, upright.height)
        orientation = header.orientation
        pages = header.frames
        let moves = header.format.isAnimation && header.frames > 1
        delays = moves ? header.delays : nil
        loop = moves ? header.loop : nil
        hasAlpha = image.hasAlpha
        bitDepth = image.int("heif-bitdepth") ?? image.sampleBits
        colorSpace = image.colorModel
        let profile = image.blob("icc-profile-data").flatMap { ICCProfile(bytes: $0).description }.flatMap(
            embedded.clean)
        iccProfile = profile
        color = ColorDocument(SourceReader.color(of: job.source, header.format), image, profile: profile)
        hdr = image.statedSpace?.curve.isHDR ?? false
        density = header.format.row.statesDensity ? Density(image.density) : nil
        progressive = image.int("interlaced") == 1 || image.int("jpeg-multiscan") == 1
        chromaSubsampling = image.text("jpeg-chroma-subsample").flatMap(embedded.clean)
        undrawn = header.gaps.isEmpty ? nil : header.gaps.names
        metadata = Metadata(embedded, ImageRights(of: image))
        c2pa = C2PAManifest.isPresent(in: job.source, header.format)
        exif = job.output.details.contains(.exif) ? CameraSettings(embedded) : nil
        gps = job.output.details.contains(.position) ? image.blob("exif-data").flatMap(GPSPosition.init(exif:)) : nil
    }
}

extension SourceDocument.Metadata {
    fileprivate init(_ embedded: EmbeddedMetadata, _ rights: ImageRights) {
        (make, model) = (embedded.exif("exif-ifd0-Make"), embedded.exif("exif-ifd0-Model"))
        taken = embedded.exif("exif-ifd2-DateTimeOriginal").flatMap(Self.moment)
        (copyright, artist, description) = (embedded.copyright, embedded.artist, embedded.description)
        (credit, usageTerms, webStatement) = (rights.credit, rights.usageTerms, rights.webStatement)
        (licensorUrl, digitalSourceType) = (rights.licensorURL, rights.digitalSourceType)
    }

    /// The ISO 8601 form of an EXIF time, `2024:05:31 18:30:00`.
    private static func moment(_ text: String) -> String? {
        guard let parts = text.wholeMatch(of: /(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/) else { return nil }
        return "\(parts.1)-\(parts.2)-\(parts.3)T\(parts.4)"
    }
}

extension ByteBuffer {
    /// A JSON document that is the result of a job, with members in a fixed order, so that equal documents are equal
    /// bytes.
    init(json document: some Encodable, keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = keys
        // Strings, finite numbers and booleans always encode.
        self.init(bytes: (try? encoder.encode(document)) ?? Data("{}".utf8))
    }
}

extension VipsImage {
    fileprivate var sampleBits: Int {
        switch sampleFormat {
        case "uchar", "char": 8
        case "ushort", "short": 16
        case "double", "complex": 64
        default: 32
        }
    }

    fileprivate var colorModel: String {
        switch interpretation {
        case "srgb", "rgb", "rgb16", "scrgb": "rgb"
        case "b-w", "grey16": "grey"
        case "cmyk": "cmyk"
        case "lab", "labs", "labq": "lab"
        default: "other"
        }
    }
}

/// The members of a source's JSON document that decide how large results are.
package struct SourceSummary: Decodable, Hashable, Sendable {
    package let format: SourceFormat
    /// As stored, before orientation; one frame.
    package let width: Int
    package let height: Int
    /// EXIF orientation 1…8.
    package let orientation: Int
    /// Frames or pages.
    package let pages: Int

    /// The accepted pixels of a side, with which arithmetic on areas and frames cannot overflow.
    package static let sides = 1...1_000_000_000

    /// Reads a document in the format ``OutputFormat/json``. Throws also for numbers that no source has, as from a
    /// compromised worker.
    package init(parsing document: ByteBuffer) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(document.readableBytesView))
        guard Self.sides.contains(width), Self.sides.contains(height), Self.sides.contains(pages),
            (1...8).contains(orientation)
        else { throw ImageProcessingError.corrupt("a document with impossible sizes") }
    }

    /// Whether it is an animation of several frames.
    package var isAnimated: Bool { format.isAnimation && pages > 1 }
}

package struct PlannedSize: Hashable, Sendable {
    package let size: PixelSize
    /// Whether the result has this size. If a step like `trim` learns its size from pixels, it may be smaller.
    package let isExact: Bool
}

extension TransformChain {
    /// The size of the result, from only the summary of its source.
    package func size(for source: SourceSummary) throws(TransformError) -> PlannedSize {
        let size = PixelSize(width: source.width, height: source.height)
        let plan = try plan(
            ChainPlan(source: size, orientation: source.orientation, isVector: source.format.isVector))
        return PlannedSize(size: plan.size, isExact: plan.isSizeKnown)
    }
}

/// The JSON document of weserv/images about the chain's result, with the members that it has.
struct WsrvDocument: Encodable {
    let format: String
    let width: Int
    /// Of all frames, which lie below each other.
    let height: Int
    let space: String
    let channels: Int
    let depth: String
    /// Pixels per inch.
    let density: Int?
    let chromaSubsampling: String?
    let isProgressive: Bool
    let paletteBitDepth: Int?
    /// The number of pages of the source. The following four members also describe the source.
    let pages: Int?
    let pageHeight: Int?
    let loop: Int?
    let delay: [Int]?
    let pagePrimary: Int?
    let hasProfile: Bool
    let hasAlpha: Bool
    /// 0 = none. An image after applying its orientation has 0 too.
    let orientation: Int

    init(_ header: SourceHeader, _ source: VipsImage, _ result: ImageFrames) {
        format = header.format == .avif || header.format == .heic ? "heif" : header.format.rawValue
        width = result.size.width
        height = result.size.height * result.frames.count
        (space, channels, hasAlpha) = (result.first.interpretation, result.first.bands, result.first.hasAlpha)
        depth = "uchar"
        density = source.density.x > 1 && source.density.x < 1e6 ? Int((source.density.x * 25.4).rounded()) : nil
        chromaSubsampling = source.text("jpeg-chroma-subsample")
        isProgressive = source.has("interlaced")
        paletteBitDepth = source.int("palette-bit-depth")
        pages = source.int("n-pages")
        pageHeight = result.isAnimated ? result.size.height : nil
        loop = source.int("loop")
        delay = source.ints("delay")
        pagePrimary = source.int("heif-primary")
        hasProfile = source.has("icc-profile-data")
        orientation = source.int("orientation") == 1 ? 1 : 0
    }
}
