import DarkroomRequests

/// The requested part of the upright image (IIIF Image API 3.0 §4.1).
enum IIIFRegion: Hashable, Sendable {
    case full
    /// The largest square in the middle.
    case square
    case pixels(x: Int, y: Int, width: Int, height: Int)
    case percent(x: Double, y: Double, width: Double, height: Double)

    init(_ text: String) throws(InvalidParameter) {
        switch text {
        case "full":
            self = .full
        case "square":
            self = .square
        case _ where text.hasPrefix("pct:"):
            let parts = IIIFNumbers.decimals(text.dropFirst(4))
            guard parts.count == 4 else { throw Self.malformed(text) }
            self = .percent(x: parts[0], y: parts[1], width: parts[2], height: parts[3])
        default:
            let members = IIIFNumbers.pixels(text[...])
            let parts = members.compactMap(\.self)
            guard members.count == 4, parts.count == 4 else { throw Self.malformed(text) }
            self = .pixels(x: parts[0], y: parts[1], width: parts[2], height: parts[3])
        }
    }

    private static func malformed(_ text: String) -> InvalidParameter {
        InvalidParameter(
            "region", got: text,
            expected: "full, square, x,y,w,h in pixels, or pct:x,y,w,h in percent, each at least 0")
    }

    /// The rectangle in an image, cropped at its edges.
    func rectangle(in full: PixelSize) throws(InvalidParameter) -> IIIFRectangle {
        switch self {
        case .full:
            return IIIFRectangle(size: full)
        case .square:
            let side = min(full.width, full.height)
            return IIIFRectangle(
                x: (full.width - side) / 2, y: (full.height - side) / 2, size: PixelSize(width: side, height: side))
        case .pixels(let x, let y, let width, let height):
            return try Self.cropped(x, y, width, height, in: full)
        case .percent(let x, let y, let width, let height):
            return try Self.cropped(
                IIIFNumbers.rounded(x, percentOf: full.width), IIIFNumbers.rounded(y, percentOf: full.height),
                IIIFNumbers.rounded(width, percentOf: full.width), IIIFNumbers.rounded(height, percentOf: full.height),
                in: full)
        }
    }

    private static func cropped(
        _ x: Int, _ y: Int, _ width: Int, _ height: Int, in full: PixelSize
    ) throws(InvalidParameter) -> IIIFRectangle {
        try require(width >= 1 && height >= 1, "region", "Parameter 'region' must be at least one pixel wide and high.")
        try require(
            x < full.width && y < full.height, "region",
            "Parameter 'region' must begin within the image, which is \(full) pixels.")
        return IIIFRectangle(
            x: x, y: y, size: PixelSize(width: min(width, full.width - x), height: min(height, full.height - y)))
    }
}

/// A rectangle within an image, in pixels.
struct IIIFRectangle: Hashable {
    var x = 0
    var y = 0
    let size: PixelSize

    /// The canonical region (§4.8).
    func canonical(in full: PixelSize) -> String {
        size == full ? "full" : "\(x),\(y),\(size.width),\(size.height)"
    }
}
