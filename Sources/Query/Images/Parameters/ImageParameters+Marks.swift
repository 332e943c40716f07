import DarkroomNetwork
import DarkroomRequests

extension ImageParameters {
    /// The parameters of the watermark and of the layers that are drawn onto the result.
    static func marks(_ limits: QueryLimits) -> [Row] {
        let side = ValueFormat.length(1...limits.maxOutputSide, percent: 0.01...100)
        let offset = ValueFormat.length(-limits.maxOutputSide...limits.maxOutputSide, percent: -100...100)
        return [
            Row(
                "mark", .markSource, \.query.mark, .watermarks, .transform("Mark"), cost: .high,
                "Watermark: an image to draw onto the result, such as a logo, as a URL or as the name of one of the "
                    + "server's `marks`."),
            Row(
                "markw", side, \.mark.width, .watermarks, .transform("Mark"),
                "Width of the watermark in CSS pixels, or in percent of the result's width; by default its own size."),
            Row(
                "markh", side, \.mark.height, .watermarks, .transform("Mark"),
                "Height of the watermark in CSS pixels, or in percent of the result's height; by default its own "
                    + "size."),
            Row(
                "marka", .markAnchor, \.mark.anchor, .watermarks, .transform("Mark"),
                "Position of the watermark: center, edge or corner, or `tile` to repeat it over the whole result."),
            Row(
                "markx", offset, \.mark.x, .watermarks, .transform("Mark"),
                "Horizontal distance of the watermark: from the left or right edge, to the right of the center, or "
                    + "between tiles."),
            Row(
                "marky", offset, \.mark.y, .watermarks, .transform("Mark"),
                "Vertical distance of the watermark: from the top or bottom edge, below the center, or between tiles."),
            Row(
                "markalpha", .integer(Mark.opacities), \.mark.opacity, .watermarks, .transform("Mark"),
                "Opacity of the watermark in percent."),
            Row(
                "markblend", .choice(Mark.Blend.self), \.mark.blend, .watermarks, .transform("Mark"),
                "How the watermark's colors combine with the image: `over` covers, `multiply` darkens, `screen` "
                    + "lightens, and the others are as in CSS."),
            Row(
                "layers", .layerNames, \.layers, .watermarks, .transform("Layer"),
                "Order of the named images `mark.NAME` and texts `text.NAME`, from the lowest to the highest; by "
                    + "default images in the order of their names, then texts."),
        ]
    }
}

extension ValueFormat where Value == String {
    /// The name of a mark, which has no colon, or a URL, which has one.
    static var markSource: ValueFormat {
        text(
            pattern: "^([A-Za-z0-9_-]{1,32}|[A-Za-z][A-Za-z0-9+.-]*:.+)$",
            expected: "the name of a mark, or an absolute http, https, s3 or local URL, percent-encoded"
        ) { text in
            guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return SourceMap.isMarkName(text) }
            let scheme = text.utf8[..<colon]
            return scheme.first?.isASCIILetter == true && text.utf8.index(after: colon) < text.utf8.endIndex
                && scheme.allSatisfy { $0.isASCIIAlphanumeric || "+.-".utf8.contains($0) }
        }
    }
}

extension ImageQueryDraft {
    /// The mark with its lengths in device pixels; nil if there is none.
    func finishedMark(_ limits: QueryLimits) throws(InvalidParameter) -> Mark? {
        guard query.mark != nil else {
            try require(mark == Mark(), "mark", "Parameters 'markw' to 'markblend' require 'mark'.")
            return nil
        }
        try require(
            mark.anchor != nil || !mark.x.isNegative && !mark.y.isNegative, mark.x.isNegative ? "markx" : "marky",
            "Parameters 'markx' and 'marky' are gaps with marka=tile and must be at least 0.")
        var mark = mark
        let scaled = { (length: Length) in pixelRatio.times(length, atMost: limits.maxOutputSide) }
        (mark.width, mark.height) = (mark.width.map(scaled), mark.height.map(scaled))
        (mark.x, mark.y) = (scaled(mark.x), scaled(mark.y))
        return mark
    }
}
