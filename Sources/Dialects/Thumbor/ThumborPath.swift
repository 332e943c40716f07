import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests

/// The parts of a path of thumbor or imagor after its signature, in their order.
struct ThumborPath: Sendable {
    /// The corner that gives the border's color, and the tolerated difference; 0 = not given.
    typealias Trim = (isBottomRight: Bool, tolerance: Int)
    /// `AxB:CxD`
    typealias Rectangle = (left: Double, top: Double, right: Double, bottom: Double)

    /// A filter with its arguments, each percent-decoded.
    struct Filter: Sendable {
        var name: String
        var arguments: [String]
    }

    var isMeta = false
    var trim: Trim?
    var crop: Rectangle?
    var fitsIn = false
    var isFull = false
    var isAdaptive = false
    var isStretched = false
    /// 0 = not given, ``sourceSide`` = the width of the source; the same for the height.
    var width = 0
    var height = 0
    var mirrorsColumns = false
    var mirrorsRows = false
    /// In pixels.
    var padding = Padding(0)
    /// `left`, `right` or `center`.
    var horizontal: String?
    /// `top`, `bottom` or `middle`.
    var vertical: String?
    var isSmart = false
    var filters: [Filter] = []
    /// The image as the path names it, percent-decoded once.
    var image = ""

    /// thumbor's `orig`: the side of the source.
    static let sourceSide = Int.max

    /// Reads the text after the signature, as it was signed.
    init(parsing text: VerifiedText) throws(InvalidParameter) {
        var segments = text.text.drop { $0 == "/" }
        isMeta = try segments.takeWord("meta")
        trim = try segments.take(Self.trim)
        crop = try segments.take(Self.rectangle)
        try readFit(&segments)
        if let sides = try segments.take(Self.sides) {
            (mirrorsColumns, mirrorsRows) = (sides[0].isMirrored, sides[1].isMirrored)
            // Both sides of the source, or one with its proportions, are its own size.
            if sides.contains(where: { $0.length > 0 && $0.length < Self.sourceSide }) {
                (width, height) = (sides[0].length, sides[1].length)
            }
        }
        padding = try segments.take(Self.padding) ?? padding
        horizontal = try segments.take { ["left", "right", "center"].contains($0) ? $0 : nil }
        vertical = try segments.take { ["top", "bottom", "middle"].contains($0) ? $0 : nil }
        isSmart = try segments.takeWord("smart")
        filters = try ThumborFilterList.read(&segments)
        image = try Self.image(segments)
    }

    /// The path for an image of one color, which is created at the size of the result: square if a side is missing.
    var ofCanvas: ThumborPath {
        var path = self
        (path.width, path.height) = (width > 0 ? width : height, height > 0 ? height : width)
        (path.trim, path.crop) = (nil, nil)
        (path.fitsIn, path.isFull, path.isAdaptive, path.isStretched) = (false, false, false, true)
        return path
    }

    private mutating func readFit(_ segments: inout Substring) throws(InvalidParameter) {
        let fits = ["adaptive-full-fit-in", "adaptive-fit-in", "full-fit-in", "fit-in"]
        if let fit = try segments.take({ fits.contains($0) ? $0 : nil }) {
            fitsIn = true
            isFull = fit.hasSuffix("full-fit-in")
            isAdaptive = fit.hasPrefix("adaptive")
        }
        isStretched = try segments.takeWord("stretch")
    }

    private static func trim(_ segment: String) -> Trim? {
        guard segment.hasPrefix("trim"),
            let match = segment.wholeMatch(of: /trim(:(top-left|bottom-right))?(:([0-9]{1,9}))?/)
        else { return nil }
        return (match.2 == "bottom-right", match.4.flatMap { Int($0) } ?? 0)
    }

    private static func rectangle(_ segment: String) -> Rectangle? {
        // A regular expression is parsed whenever it is used, so nearly all paths avoid it.
        guard segment.utf8.first?.isASCIIDigit == true || segment.hasPrefix("."), segment.utf8.count <= 64,
            segment.utf8.contains(UInt8(ascii: ":")),
            let match = segment.wholeMatch(
                // A number can be matched in one way only. With several ways, the time would grow with their product.
                of: /([0-9]+|[0-9]*\.[0-9]+)x([0-9]+|[0-9]*\.[0-9]+):([0-9]+|[0-9]*\.[0-9]+)x([0-9]+|[0-9]*\.[0-9]+)/)
        else { return nil }
        let sides = [match.1, match.2, match.3, match.4].compactMap { Double("0\($0)") }
        guard sides.count == 4 else { return nil }
        return (sides[0], sides[1], sides[2], sides[3])
    }

    private static func padding(_ segment: String) -> Padding? {
        guard segment.utf8.first?.isASCIIDigit == true,
            let match = segment.wholeMatch(of: /([0-9]{1,4})x([0-9]{1,4})(:([0-9]{1,4})x([0-9]{1,4}))?/),
            let left = Int(match.1), let top = Int(match.2)
        else { return nil }
        return Padding(
            top: top, right: match.4.flatMap { Int($0) } ?? left, bottom: match.5.flatMap { Int($0) } ?? top, left: left
        )
    }

    /// `WxH`, each with an optional minus sign and possibly without digits.
    private static func sides(_ segment: String) throws(InvalidParameter) -> [(length: Int, isMirrored: Bool)]? {
        let sides = segment.utf8.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let digits = sides.map { $0.first == UInt8(ascii: "-") ? $0.dropFirst() : $0 }
        guard digits.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) || $0.elementsEqual("orig".utf8) }) else { return nil }
        try require(
            digits.allSatisfy({ $0.count <= 6 }), "size",
            "A side of the size has too many digits.")
        return zip(sides, digits).map { side, digits in
            let length = digits.elementsEqual("orig".utf8) ? sourceSide : digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            return (length, digits.count < side.count)
        }
    }

    private static func image(_ raw: Substring) throws(InvalidParameter) -> String {
        try require(
            !raw.isEmpty, "image", "The path names no image: its URL follows the last option.")
        let text = try PercentEncoding.decode(raw.utf8, "image", "The image's URL")
        guard text.hasPrefix("b64:"), let decoded = Base64URL.lenientText(of: text.dropFirst(4)) else { return text }
        return decoded
    }
}

/// The segments of a path that have not been read yet.
extension Substring {
    /// Removes the first segment if it has a meaning. The last segment belongs to the image and is never an option.
    fileprivate mutating func take<Value>(
        _ read: (String) throws(InvalidParameter) -> Value?
    ) throws(InvalidParameter) -> Value? {
        guard let slash = utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let segment = self[..<slash].utf8
        guard segment.count <= 200, let text = PercentEncoding.decode(segment), let value = try read(text) else {
            return nil
        }
        self = self[utf8.index(after: slash)...]
        return value
    }

    fileprivate mutating func takeWord(_ word: String) throws(InvalidParameter) -> Bool {
        try take { $0 == word ? true : nil } ?? false
    }
}
