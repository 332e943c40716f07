public import DarkroomRequests
import DarkroomVips

extension Trim: Transform {
    /// Above this threshold, most of a photograph is border.
    private static let greatThreshold = 50
    /// No image that is smaller has a border.
    private static let leastSide = 3

    public var key: String {
        let background = background.map { ",\($0.opaque.hex)" } ?? ""
        let corner = corner == .topLeft ? "" : ",\(corner.rawValue)"
        let columns = keepsHeightOfAnimations ? ",columns" : ""
        let backdrop = backdrop.map { ",on \($0.hex)" } ?? ""
        let even = (isEvenAcross ? ",even x" : "") + (isEvenDown ? ",even y" : "")
        let within = within.map { ",\($0.key)" } ?? ""
        return "trim(\(threshold)\(background)\(corner)\(columns)\(backdrop)\(even)\(within))"
    }

    public var cost: TransformCost {
        // A scan ends at the first content: a photograph takes hardly any time below a great threshold, a plain image
        // takes this time, and one with traces below the threshold is read twice, in four times this time.
        let isGreat = threshold > Self.greatThreshold
        return TransformCost(
            nanosecondsPerPixel: isGreat ? 11 : 6, nanosecondsPerPixelWithAlpha: isGreat ? 18 : 14,
            nanosecondsPerFrame: 0.5e6)
    }

    /// It looks for the border in all pixels, so that a list of trims would compute all earlier steps for each of them.
    public var reading: InputReading { .repeatedly }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard min(image.size.width, image.size.height) >= Self.leastSide else { return image }
        let areas = try image.frames.compactMap { frame throws(VipsError) in
            try content(of: frame, interrupt: context.interrupt)
        }
        var kept = areas.dropFirst().reduce(areas.first) { $0?.union($1) }
        if keepsHeightOfAnimations, image.isAnimated { kept?.keepRows(of: image.size) }
        if isEvenAcross { kept?.evenOutColumns(of: image.size) }
        if isEvenDown { kept?.evenOutRows(of: image.size) }
        if let rectangle = try within?.rectangle(in: image.size) {
            let crop = PixelArea(
                left: rectangle.x, top: rectangle.y, right: rectangle.x + rectangle.size.width,
                bottom: rectangle.y + rectangle.size.height)
            kept = kept?.intersection(crop) ?? crop
        }
        guard let kept, !kept.isEmpty else { return image }
        return try image.extracting((kept.left, kept.top, kept.size))
    }

    /// The rectangle within the border; nil if the frame is all border.
    ///
    /// In a lossy file, traces of edges reach into the border. There, a difference counts that either is no speck or is
    /// greater than such traces.
    private func content(of frame: VipsImage, interrupt: @escaping Interrupt) throws(VipsError) -> PixelArea? {
        if let backdrop { return try contentWithoutSpecks(of: frame, on: backdrop, interrupt: interrupt) }
        let scan = try TrimScan(
            frame.withByteSamples(), threshold: threshold, background: background, corner: corner, interrupt: interrupt)
        guard scan.isNoisy else { return scan.area }
        let withoutSpecks = try contentWithoutSpecks(of: frame, on: background ?? .black, interrupt: interrupt)
        guard let clear = scan.clearArea else { return withoutSpecks }
        return withoutSpecks?.union(clear) ?? clear
    }

    private func contentWithoutSpecks(
        of frame: VipsImage, on backdrop: Color, interrupt: @escaping Interrupt
    ) throws(VipsError) -> PixelArea? {
        let byte = try frame.flattened(on: backdrop).applying("colourspace", ["space": "srgb"]).applying(
            "cast", ["format": "uchar"])
        let border = if let background { background.rgb } else { try corner.pixel(of: byte) }
        return try SpeckScan(byte, border: border, threshold: threshold, interrupt: interrupt).area
    }
}

extension Trim.Corner {
    /// The samples of the pixel in the corner.
    func pixel(of image: VipsImage) throws(VipsError) -> [Double] {
        let (x, y) = self == .topLeft ? (0, 0) : (image.width - 1, image.height - 1)
        return try image.pixel(x: x, y: y)
    }
}

extension VipsImage {
    /// The image in 8-bit sRGB samples, with the alpha that it has.
    fileprivate func withByteSamples() throws(VipsError) -> VipsImage {
        if isByte, interpretation == "srgb", bands == (hasAlpha ? 4 : 3) { return self }
        return try splittingAlpha(
            color: { color throws(VipsError) in
                try color.applying("colourspace", ["space": "srgb"]).applying("cast", ["format": "uchar"])
            },
            alpha: { alpha throws(VipsError) in try isShort ? alpha.bytes(times: 1 / 257) : alpha })
    }
}
