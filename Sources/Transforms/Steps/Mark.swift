public import DarkroomRequests
import DarkroomVips

extension Mark: ImageDrawing {
    var imageName: String { image }

    public var key: String {
        let sides = "\(width?.description ?? "-"),\(height?.description ?? "-")"
        let rules =
            placement.map { ",\($0.x?.key ?? "all") \($0.y?.key ?? "all") \(scaling.rawValue)" }
            ?? (mayExceed ? ",exceeding" : "")
        return "mark(\(content),\(sides),\(anchor?.rawValue ?? "tile"),\(x),\(y),\(opacity),\(blend.rawValue)\(rules))"
    }

    public var cost: TransformCost {
        TransformCost(
            nanosecondsPerPixel: (blend == .over ? 30 : 70) * mostCoverage, nanosecondsPerFrame: 1e6,
            bytesPerPixel: 3 + 4 * mostCoverage, bytesPerPixelWithAlpha: 4 + 4 * mostCoverage, bytesPerFrame: 50_000)
    }

    /// An upper bound of the part of the image that the mark covers, 0.3 to 1.
    private var mostCoverage: Double {
        guard anchor != nil, placement == nil else { return 1 }
        let shares = [width, height].compactMap { side in
            if case .percent(let part)? = side { part.fraction } else { nil }
        }
        return min(max(shares.min() ?? 1, 0.3), 1)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let source = try context.image(for: self)
        let frames = try source.images(
            framesUsed(of: source, on: image.frames.count), scaledTo: size(of: source.size, on: image.size),
            interrupt: context.interrupt)
        let overlays = try frames.compactMap { drawn throws(VipsError) in
            let ink = try cropped(drawn, on: image.size).asInk(opacity: opacity, interrupt: context.interrupt)
            return try visible(ink, on: image.size, context.plan)
        }
        return try image.drawing(overlays, blend)
    }

    /// The frames that are drawn: an animation with a ``placement`` plays along with the image.
    func framesUsed(of source: MarkSource, on image: Int) -> Int { placement == nil ? 1 : source.frames(on: image) }

    func cost(
        of source: MarkSource, framesUsed frames: Int, on picture: PixelSize
    ) throws(ImageProcessingError) -> (bytes: Int, work: Double) {
        try source.cost(framesUsed(of: source, on: frames), at: size(of: source.size, on: picture))
    }

    /// What is drawn of a mark, and where; nil if it lies wholly outside the image.
    private func visible(
        _ mark: VipsImage, on picture: PixelSize, _ plan: ChainPlan
    ) throws(VipsError) -> Overlay? {
        if let placement { return try placement.visible(mark, on: picture) }
        if mayExceed { return try placed(mark, on: picture, pixelRatio: plan.layout?.pixelRatio ?? 1) }
        let corner = corner(of: mark.size, on: picture)
        return (anchor == nil ? try tiles(of: mark, over: picture) : mark, corner.x, corner.y)
    }
}

extension Mark.Blend {
    /// libvips' name.
    var mode: String { rawValue.replacing("color", with: "colour") }
}

extension Mark.Placement {
    fileprivate func visible(
        _ mark: VipsImage, on picture: PixelSize
    ) throws(VipsError) -> Overlay? {
        let covered = PixelSize(
            width: x == nil ? picture.width : mark.width, height: y == nil ? picture.height : mark.height)
        let block = PixelSize(
            width: x == nil ? min(Mark.blockSize.width, picture.width) : mark.width,
            height: y == nil ? min(Mark.blockSize.height, picture.height) : mark.height)
        let row = try mark.repeated(toCover: block).rendered().repeated(toCover: covered)
        let corner = (
            x: x?.position(of: mark.width, on: picture.width) ?? 0,
            y: y?.position(of: mark.height, on: picture.height) ?? 0
        )
        return try row.visible(at: corner, on: picture)
    }
}

// MARK: - Placement

extension Mark {
    /// The size at which a mark of the upright size `natural` is drawn: that size or the size of its box.
    func size(of natural: PixelSize, on picture: PixelSize) -> PixelSize {
        if placement != nil { return placedSize(of: natural, on: picture) }
        let mayBeLarger = mayExceed && width == nil && height == nil && natural.area <= Self.maxExceedingArea
        var scale = mayBeLarger ? .infinity : natural.factor(toFit: picture)
        if width == nil, height == nil { scale = min(scale, 1) }
        if let width { scale = min(scale, Double(width.measured(in: picture.width)) / Double(natural.width)) }
        if let height { scale = min(scale, Double(height.measured(in: picture.height)) / Double(natural.height)) }
        let size = natural.scaled(by: scale)
        return mayBeLarger ? size : size.clipped(to: picture)
    }

    /// The size of a mark with a placement before it is cropped. A large one is never larger than the image.
    private func placedSize(of natural: PixelSize, on picture: PixelSize) -> PixelSize {
        let across = width.map { Double(max($0.measured(in: picture.width), 1)) / Double(natural.width) }
        let down = height.map { Double(max($0.measured(in: picture.height), 1)) / Double(natural.height) }
        let (least, most) = (min(across ?? .infinity, down ?? .infinity), max(across ?? 0, down ?? 0))
        let sides: (x: Double, y: Double) =
            switch scaling {
            case _ where across == nil && down == nil: (1, 1)
            case .inside: (least, least)
            case .shrink: (min(least, 1), min(least, 1))
            case .cover: (most, most)
            case .fill: (across ?? least, down ?? least)
            }
        let size = (x: Double(natural.width) * sides.x, y: Double(natural.height) * sides.y)
        let isLarge = size.x * size.y > Double(Self.maxExceedingArea)
        let factor = isLarge ? min(Double(picture.width) / size.x, Double(picture.height) / size.y, 1) : 1
        return PixelSize(width: PixelSize.side(size.x * factor), height: PixelSize.side(size.y * factor))
    }

    /// A mark that covers its box, cropped to it.
    private func cropped(_ mark: VipsImage, on picture: PixelSize) throws(VipsError) -> VipsImage {
        guard placement != nil, scaling == .cover, let width, let height else { return mark }
        let box = PixelSize(
            width: min(max(width.measured(in: picture.width), 1), mark.width),
            height: min(max(height.measured(in: picture.height), 1), mark.height))
        guard box != mark.size else { return mark }
        return try mark.extracting(x: (mark.width - box.width) / 2, y: (mark.height - box.height) / 2, size: box)
    }

    /// The upper left corner of a mark of this size, which lies wholly on the image.
    func corner(of size: PixelSize, on picture: PixelSize) -> (x: Int, y: Int) {
        guard let fractions = anchor?.fractions else { return (0, 0) }
        return (
            Self.place(x.measured(in: picture.width), fractions.x, free: picture.width - size.width),
            Self.place(y.measured(in: picture.height), fractions.y, free: picture.height - size.height)
        )
    }

    /// The largest mark, in pixels, that may be larger than the image.
    private static let maxExceedingArea = 4 << 20

    private static func place(_ offset: Int, _ fraction: Double, free: Int) -> Int {
        let anchored = Int(Double(free) * fraction)
        return min(max(fraction == 1 ? anchored - offset : anchored + offset, 0), max(free, 0))
    }

    /// The size of a tile with the gap to the next tile, at most the size of the image.
    func cell(of size: PixelSize, on picture: PixelSize) -> PixelSize {
        PixelSize(
            width: min(size.width + max(0, x.measured(in: picture.width)), max(picture.width, size.width)),
            height: min(size.height + max(0, y.measured(in: picture.height)), max(picture.height, size.height)))
    }

    /// A raster of the image's size, covered with the mark.
    private func tiles(of mark: VipsImage, over picture: PixelSize) throws(VipsError) -> VipsImage {
        try mark.embedded(in: cell(of: mark.size, on: picture), x: 0, y: 0, on: .transparent).tiled(over: picture)
    }

    static let blockSize = PixelSize(width: 256, height: 256)
}

extension VipsImage {
    /// The image repeated in rows and columns until it covers a size.
    func repeated(toCover size: PixelSize) throws(VipsError) -> VipsImage {
        let across = (size.width + width - 1) / width
        let down = (size.height + height - 1) / height
        guard across > 1 || down > 1 else { return self }
        return try applying("replicate", ["across": .int(across), "down": .int(down)])
    }

    /// A raster of this size, covered with the image from a point of its first copy. Only a block is rendered: libvips
    /// copies tile by tile, so an image full of tiles of one pixel would take seconds.
    fileprivate func tiled(over size: PixelSize, x: Int = 0, y: Int = 0) throws(VipsError) -> VipsImage {
        try repeated(toCover: Mark.blockSize).rendered()
            .repeated(toCover: PixelSize(width: size.width + x, height: size.height + y))
            .extracting(x: x, y: y, size: size)
    }
}

extension Mark {
    /// The visible part of a mark that may exceed the image, and its position; nil if the mark lies wholly outside.
    func placed(
        _ mark: VipsImage, on picture: PixelSize, pixelRatio: Double
    ) throws(VipsError) -> Overlay? {
        let offset = (
            x: Self.offset(x, of: picture.width, pixelRatio), y: Self.offset(y, of: picture.height, pixelRatio)
        )
        guard let anchor else { return (try centeredTiles(of: mark, over: picture, gap: offset), 0, 0) }
        let corner = anchor.corner(of: mark.size, in: picture, across: offset.x, down: offset.y)
        return try mark.visible(at: corner, on: picture)
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
        let spaced = try mark.embedded(in: cell, x: across / 2, y: down / 2, on: .transparent)
        // An odd number of cells lies around the center, so the first cell begins this far outside.
        let left = (Self.odd(picture.width, by: cell.width) * cell.width - picture.width) / 2 % cell.width
        let top = (Self.odd(picture.height, by: cell.height) * cell.height - picture.height) / 2 % cell.height
        return try spaced.tiled(over: picture, x: left, y: top)
    }

    /// The least odd number of cells that covers a length.
    private static func odd(_ length: Int, by cell: Int) -> Int { (length + cell - 1) / cell | 1 }
}
