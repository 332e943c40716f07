import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests

/// An image that one of imagor's filters `watermark` and `image` draws.
struct ThumborDrawing {
    let url: String
    /// A side as steps spell it, or `-`.
    var width = "-"
    var height = "-"
    let opacity: Int
    private var scaling = Mark.Scaling.inside
    private var blend = Mark.Blend.over
    private let x: ThumborPlace
    private let y: ThumborPlace

    /// - Parameter arguments: the place and the alpha after the first argument.
    init(url: String, _ arguments: [String]) {
        self.url = url
        let alpha = ThumborNumber.number(arguments.count > 3 ? arguments[3] : nil)
        opacity = 100 - Int(alpha.clamped(to: 0...100).rounded())
        x = ThumborPlace(arguments.count > 2 ? arguments[1] : nil)
        y = ThumborPlace(arguments.count > 2 ? arguments[2] : nil)
    }

    /// `path,x,y,alpha,mode`
    init(image arguments: [String], _ source: ForeignSource) throws(InvalidParameter) {
        var text = arguments[0].drop { $0 == "/" }
        let sides = Self.takeSides(&text)
        // A part of a path that was verified as a whole.
        let path = try ThumborPath(parsing: .unsigned(text.replacing("%", with: "%25")))
        try require(
            !sides.contains(nil) && path.isPlain, "image",
            "The path in a filter 'image' may have a size with 'fit-in' or 'stretch', and no other option or filter.")
        let color = ThumborColor.canvas(path.image)
        if let color {
            self.init(url: "color:///\(color.hex)", arguments)
        } else {
            self.init(url: try source.url(path.image), arguments)
        }
        width = sides.compactMap(\.self).first ?? (path.width > 0 ? "\(path.width)" : "-")
        height = sides.compactMap(\.self).last ?? (path.height > 0 ? "\(path.height)" : "-")
        scaling = path.fitsIn ? .shrink : path.isStretched || color != nil ? .fill : .cover
        if width == "-" || height == "-", scaling != .shrink || width == height { scaling = .inside }
        let mode = arguments.count > 4 ? arguments[4].lowercased() : ""
        try require(
            !Self.otherModes.contains(mode), "image",
            "The modes add, mask and mask-out of a filter 'image' are not available.")
        blend = Mark.Blend(rawValue: mode) ?? .over
    }

    /// The entry of `steps`.
    ///
    /// - Parameter name: the name of the image; nil = it is `mark`.
    func step(ofImage name: String?) -> String {
        var values = [x.text("l", "r"), y.text("t", "b"), width, height, "\(opacity)"]
        if blend != .over || scaling != .inside || name != nil { values += [blend.rawValue, scaling.rawValue] }
        if let name { values.append(name) }
        return (["mark"] + values).joined(separator: ":")
    }

    /// Modes of imagor that are not available. Any other name means `normal`.
    private static let otherModes: Set = ["add", "mask", "mask-out"]

    /// Removes a size such as `fxf` or `100xfull`, whose sides may be the sides of the image below, and returns width
    /// and height; no elements without such a size, and nil for a side that is not available.
    private static func takeSides(_ text: inout Substring) -> [String?] {
        var segments = text.split(separator: "/", omittingEmptySubsequences: false)
        for index in segments.indices.dropLast() {
            let sides = segments[index].split(separator: "x", omittingEmptySubsequences: false)
            guard sides.count == 2, sides.contains(where: { $0.hasPrefix("f") || $0.hasPrefix("-f") }) else { continue }
            segments.remove(at: index)
            text = segments.joined(separator: "/")[...]
            return sides.map { side -> String? in
                if side == "f" || side == "full" { return "100p" }
                guard side.utf8.allSatisfy(\.isASCIIDigit), side.utf8.count <= 5 else { return nil }
                return side.allSatisfy { $0 == "0" } ? "-" : String(side)
            }
        }
        return []
    }
}

extension ThumborPath {
    /// Whether it has no more than a size and an image.
    fileprivate var isPlain: Bool {
        !isMeta && trim == nil && crop == nil && !isFull && !isAdaptive && !mirrorsColumns && !mirrorsRows
            && padding == Padding(0) && !isSmart && filters.isEmpty && width <= 99_999 && height <= 99_999
            && [horizontal, vertical].allSatisfy { [nil, "center", "middle"].contains($0) }
    }
}
