/// What a source is, as JSON. Members that cannot be told are left out.
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
    /// Milliseconds that each frame stays.
    let delays: [Int]?
    /// How often an animation plays; 0 = for ever.
    let loop: Int?
    let hasAlpha: Bool
    /// Bits of a sample; samples of fewer than 8 count as 8.
    let bitDepth: Int
    /// `rgb`, `grey`, `cmyk`, `lab` or `other`.
    let colorSpace: String
    /// What the embedded profile calls itself.
    let iccProfile: String?
    let density: Density?
    /// Whether it is stored coarse to fine.
    let progressive: Bool
    /// As JPEG has it: `4:2:0`.
    let chromaSubsampling: String?
    let metadata: Metadata
    let exif: CameraSettings?
    let gps: GPSPosition?
    var dominantColor: String?
    var averageColor: String?
    var palette: [String]?
    var blurHash: String?
    var thumbHash: String?
    var lqip: String?

    /// Pixels per inch.
    struct Density: Encodable {
        let x: Double
        let y: Double
    }

    /// From EXIF, else IPTC, else XMP. Where a picture was taken is not among it.
    struct Metadata: Encodable {
        let make: String?
        let model: String?
        /// `2024-05-31T18:30:00`, in whatever time zone the camera had.
        let taken: String?
        let copyright: String?
        let artist: String?
        let description: String?
    }

    /// How the camera was set, from EXIF.
    struct CameraSettings: Encodable {
        let exposureSeconds: Double?
        let fNumber: Double?
        let iso: Int?
        let focalLength: Double?
        let lens: String?
        let software: String?

        enum CodingKeys: String, CodingKey {
            case exposureSeconds = "exposure_seconds"
            case fNumber = "f_number"
            case iso
            case focalLength = "focal_length_mm"
            case lens, software
        }
    }

    enum CodingKeys: String, CodingKey {
        case format
        case mimeType = "mime_type"
        case bytes, sha256, width, height
        case uprightWidth = "upright_width"
        case uprightHeight = "upright_height"
        case orientation, pages, delays, loop
        case hasAlpha = "has_alpha"
        case bitDepth = "bit_depth"
        case colorSpace = "color_space"
        case iccProfile = "icc_profile"
        case density, progressive
        case chromaSubsampling = "chroma_subsampling"
        case metadata, exif, gps
        case dominantColor = "dominant_color"
        case averageColor = "average_color"
        case palette
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        case lqip
    }
}
