import DarkroomVips

extension Mark {
    /// The visible part of a mark by the rules of imgproxy, and where it lies; nil if the mark lies wholly outside.
    ///
    /// - Parameter pixelRatio: device pixels for a pixel of the offsets.
    func placed(
        _ mark: VipsImage, on picture: PixelSize, pixelRatio: Double
    ) throws(VipsError) -> (mark: VipsImage, x: Int, y: Int)? {
        let offset = (
            x: Self.offset(x, of: picture.width, pixelRatio), y: Self.offset(y, of: picture.height, pixelRatio)
        )
        let size = PixelSize(width: mark.width, height: mark.height)
        guard let gravity = Layout.Gravity.Anchor(rawValue: anchor.rawValue) else {
            return (try centeredTiles(of: mark, over: picture, gap: offset), 0, 0)
        }
        let corner = gravity.corner(of: size, in: picture, across: offset.x, down: offset.y)
        let left = max(0, -corner.x)
        let top = max(0, -corner.y)
        let visible = (
            width: min(size.width - left, picture.width - max(0, corner.x)),
            height: min(size.height - top, picture.height - max(0, corner.y))
        )
        guard visible.width > 0, visible.height > 0 else { return nil }
        let part = PixelSize(width: visible.width, height: visible.height)
        return (
            part == size ? mark : try mark.extracting(x: left, y: top, size: part), max(0, corner.x), max(0, corner.y)
        )
    }

    private static func offset(_ length: Length, of whole: Int, _ pixelRatio: Double) -> Int {
        switch length {
        case .pixels(let count): LayoutSizes.evenly(Double(count) * pixelRatio)
        case .percent(let part): LayoutSizes.evenly(Double(part.hundredths) / 10_000 * Double(whole))
        }
    }

    /// Tiles around the center, with half a gap on each side.
    private func centeredTiles(
        of mark: VipsImage, over picture: PixelSize, gap: (x: Int, y: Int)
    ) throws(VipsError) -> VipsImage {
        let (across, down) = (min(max(0, gap.x), picture.width), min(max(0, gap.y), picture.height))
        let cell = PixelSize(width: mark.width + across, height: mark.height + down)
        let spaced = try mark.applying(
            "embed",
            [
                "x": .int(across / 2), "y": .int(down / 2), "width": .int(cell.width), "height": .int(cell.height),
                "extend": "background", "background": .doubles([0, 0, 0, 0]),
            ])
        // An odd number of cells lies around the center, so the first cell begins this far outside.
        let left = (Self.odd(picture.width, by: cell.width) * cell.width - picture.width) / 2 % cell.width
        let top = (Self.odd(picture.height, by: cell.height) * cell.height - picture.height) / 2 % cell.height
        let block = try spaced.repeated(toCover: Self.blockSize).rendered()
        return try block.repeated(
            toCover: PixelSize(width: picture.width + left, height: picture.height + top)
        ).extracting(x: left, y: top, size: picture)
    }

    /// The least odd number of cells that covers a length.
    private static func odd(_ length: Int, by cell: Int) -> Int { (length + cell - 1) / cell | 1 }
}
