public import DarkroomRequests
import DarkroomVips
import NIOCore

/// The line that an image is cut along, and that a border follows.
public enum Outline: Hashable, Sendable {
    /// A rectangle with round corners; with radii of 0, the edge of the image.
    case corners(CornerRadii)
    /// A rectangle whose corners are quarters of one ellipse with these radii, at most half of the image's sides.
    case ellipticCorners(across: Int, down: Int)
    /// A shape in the middle of the image, as large as fits.
    case shape(MaskShape)

    /// The edge of the image.
    public static let edge = Outline.corners(CornerRadii(.pixels(0)))

    /// The memory of the library that draws outlines.
    static let drawingBytes = 4.5e6

    init(_ recipe: Recipe) {
        self = recipe.mask.map(Outline.shape) ?? recipe.radius.map(Outline.corners) ?? .edge
    }

    var key: String {
        switch self {
        case .corners(let radii): radii.all.map(\.description).joined(separator: " ")
        case .ellipticCorners(let across, let down): "ellipse \(across) \(down)"
        case .shape(let shape): shape.rawValue
        }
    }

    /// The bounds of the shape in an image of this size: a rectangle of whole pixels.
    func bounds(in size: PixelSize) -> (x: Int, y: Int, size: PixelSize) {
        guard let proportions else { return (0, 0, size) }
        let scale = min(Double(size.width) / proportions.width, Double(size.height) / proportions.height)
        let inner = PixelSize(
            width: PixelSize.side(proportions.width * scale), height: PixelSize.side(proportions.height * scale)
        ).clipped(to: size)
        return ((size.width - inner.width) / 2, (size.height - inner.height) / 2, inner)
    }

    /// The fraction of each pixel within the outline, as one band of bytes: 255 = the whole pixel.
    func coverage(of size: PixelSize) throws(VipsError) -> VipsImage {
        try drawn("fill=\"#fff\"", on: size)
    }

    /// The fraction of each pixel within this many pixels of the outline, as one band of bytes.
    func coverage(of size: PixelSize, strokeWidth: Int) throws(VipsError) -> VipsImage {
        try drawn("fill=\"none\" stroke=\"#fff\" stroke-width=\"\(strokeWidth * 2)\"", on: size)
    }

    /// Draws the outline with librsvg, which smooths edges.
    private func drawn(_ style: String, on size: PixelSize) throws(VipsError) -> VipsImage {
        let drawing = ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" width="\(size.width)" height="\(size.height)">\
                <path d="\(path(in: size))" \(style)/></svg>
                """)
        return try VipsLoader.svg.withImage(of: drawing) { lazy throws(VipsError) in
            let coverage = try lazy.band(lazy.bands - 1)
            return try coverage.setting(removing: coverage.fields).rendered()
        }
    }

    /// The outline as data of an SVG path.
    private func path(in size: PixelSize) -> String {
        let bounds = bounds(in: size)
        switch self {
        case .corners(let radii): return Self.rectangle(size, radii.fitted(to: size))
        case .ellipticCorners(let across, let down):
            let radius = (
                across: min(Double(across), Double(size.width) / 2), down: min(Double(down), Double(size.height) / 2)
            )
            return Self.rectangle(size, Array(repeating: radius, count: 4))
        case .shape(let shape):
            guard let corners = shape.corners, let box = Extent(around: corners) else {
                return Self.ellipse(x: bounds.x, y: bounds.y, bounds.size)
            }
            let (across, down) = (Double(bounds.size.width) / box.width, Double(bounds.size.height) / box.height)
            let points = corners.map { corner in
                let x = Double(bounds.x) + (corner.x - box.x) * across
                let y = Double(bounds.y) + (corner.y - box.y) * down
                return "\(Self.text(x)),\(Self.text(y))"
            }
            return "M" + points.joined(separator: "L") + "Z"
        }
    }

    /// Width and height of the shape on a plane of any scale; nil if it has the proportions of the image.
    private var proportions: (width: Double, height: Double)? {
        switch self {
        case .corners, .ellipticCorners, .shape(.ellipse): nil
        case .shape(.circle): (1, 1)
        case .shape(let shape):
            shape.corners.flatMap(Extent.init(around:)).map { ($0.width, $0.height) }
        }
    }

    private static func ellipse(x: Int, y: Int, _ size: PixelSize) -> String {
        let (across, down) = (text(Double(size.width) / 2), text(Double(size.height) / 2))
        let middle = text(Double(y) + Double(size.height) / 2)
        let arc = "A\(across),\(down) 0 0 1 "
        return "M\(x),\(middle)\(arc)\(x + size.width),\(middle)\(arc)\(x),\(middle)Z"
    }

    /// Clockwise from the end of the upper left corner.
    private static func rectangle(_ size: PixelSize, _ radii: [(across: Double, down: Double)]) -> String {
        let (width, height) = (Double(size.width), Double(size.height))
        func arc(_ corner: Int, toX x: Double, y: Double) -> String {
            "A\(text(radii[corner].across)),\(text(radii[corner].down)) 0 0 1 \(text(x)),\(text(y))"
        }
        return "M\(text(radii[0].across)),0H\(text(width - radii[1].across))"
            + arc(1, toX: width, y: radii[1].down) + "V\(text(height - radii[2].down))"
            + arc(2, toX: width - radii[2].across, y: height) + "H\(text(radii[3].across))"
            + arc(3, toX: 0, y: height - radii[3].down) + "V\(text(radii[0].down))"
            + arc(0, toX: radii[0].across, y: 0) + "Z"
    }

    /// A coordinate to a thousandth of a pixel.
    private static func text(_ coordinate: Double) -> String { "\((coordinate * 1000).rounded() / 1000)" }
}

extension Extent {
    /// The smallest rectangle around points; nil without any.
    fileprivate init?(around points: [(x: Double, y: Double)]) {
        let (columns, rows) = (points.map(\.x), points.map(\.y))
        guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
            return nil
        }
        self.init(x: left, y: top, width: right - left, height: bottom - top)
    }
}
