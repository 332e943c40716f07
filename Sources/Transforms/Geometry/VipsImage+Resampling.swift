import DarkroomRequests
import DarkroomVips

/// The samples whose averages a resampled image has.
enum SampleAveraging {
    /// The samples as they are stored, which is how browsers scale.
    case encoded
    /// Linear light for images that ``DarkroomVips/VipsImage/reducedInLight(columns:rows:detail:)`` accepts, except a
    /// ``TextPage``, and otherwise the samples as they are stored: other operations take several times as long in
    /// linear light.
    case lightIfFast
    /// Linear light.
    case light
}

extension VipsImage {
    /// Resamples the whole image, which lies at `extent` on this raster (nil = all of it): a box shrink by an integer
    /// factor (libvips `shrinkh`, `shrinkv`), then a Lanczos reduction by the remaining factor (`reduceh`, `reducev`),
    /// both with their phase preserved. Enlarging comes last (`affine`). Opaque images of 8 bits are reduced in linear
    /// light by code of our own.
    ///
    /// - Parameter shrink: the factor by which the decoder of JPEG has shrunk the image.
    func resampled(
        from extent: Extent? = nil, to target: PixelSize, averaging: SampleAveraging = .encoded,
        shrunkBy shrink: Int = 1
    ) throws(VipsError) -> VipsImage {
        let extent = extent ?? Extent(size)
        let light = averaging == .encoded ? nil : LinearLight(self)
        let detail = JPEGShrink.missingDetail(by: shrink)
        if light != nil, let reduced = try reducedInLight(from: extent, to: target, detail) { return reduced }
        return try resampled(from: extent, to: target, in: averaging == .light ? light : nil)
    }

    /// Nil if the image is not opaque, has more than 8 bits, or grows on an axis.
    private func reducedInLight(
        from extent: Extent, to target: PixelSize, _ detail: Double
    ) throws(VipsError) -> VipsImage? {
        guard isByte, !hasAlpha, bands == 1 || bands == 3, extent.width >= Double(target.width),
            extent.height >= Double(target.height),
            let columns = LightAxis(count: width, origin: extent.x, length: extent.width, target: target.width),
            let rows = LightAxis(count: height, origin: extent.y, length: extent.height, target: target.height)
        else { return nil }
        return try reducedInLight(columns: columns, rows: rows, detail: detail)
    }

    /// - Parameter light: nil = the samples are averaged as they are.
    private func resampled(
        from extent: Extent, to target: PixelSize, in light: LinearLight?
    ) throws(VipsError) -> VipsImage {
        let linear = try light?.linearized(self) ?? self
        let scaled = try linear.premultiplying { colors throws(VipsError) in
            let rows = try Axis.vertical.sample(colors, origin: extent.y, length: extent.height, target: target.height)
            let both = try Axis.horizontal.sample(
                rows, origin: extent.x, length: extent.width, target: target.width)
            return try both.enlarged(to: target)
        }
        return try light?.encoded(scaled) ?? scaled
    }

    /// Bicubic enlargement about pixel centers. libvips 8.14's own `resize` shifts an enlarged image by half a pixel.
    func enlarged(to size: PixelSize) throws(VipsError) -> VipsImage {
        guard size != self.size else { return self }
        return try mapped(
            to: size, across: Double(size.width) / Double(width), down: Double(size.height) / Double(height))
    }

    /// Bicubic interpolation about pixel centers, at a scale for each axis, from an origin on this image.
    fileprivate func mapped(
        to size: PixelSize, across: Double, down: Double, originX: Double = 0, originY: Double = 0
    ) throws(VipsError) -> VipsImage {
        try applying(
            "affine",
            [
                "matrix": .doubles([across, 0, 0, down]), "interpolate": .interpolator("bicubic"),
                "oarea": .ints([0, 0, size.width, size.height]), "idx": .double(0.5 - originX),
                "idy": .double(0.5 - originY), "odx": -0.5, "ody": -0.5, "extend": "copy", "premultiplied": true,
            ])
    }
}

/// Rows and columns are resampled alike, by operations whose names differ in this letter.
private enum Axis: String {
    case vertical = "v"
    case horizontal = "h"

    func sample(
        _ image: VipsImage, origin: Double, length: Double, target: Int
    ) throws(VipsError) -> VipsImage {
        if length < Double(target) { return image }
        let whole = max(Int(length / Double(target) / 2), 1)
        return try reduce(
            whole > 1 ? shrink(image, by: whole) : image, origin: origin / Double(whole),
            length: length / Double(whole), target: target)
    }

    /// A box shrink by an integer factor; an incomplete box at the far edge is first padded with copies.
    private func shrink(_ image: VipsImage, by factor: Int) throws(VipsError) -> VipsImage {
        let remainder = count(image) % factor
        let even = remainder == 0 ? image : try pad(image, lead: 0, trail: factor - remainder)
        return try even.applying("shrink\(rawValue)", ["\(rawValue)shrink": .int(factor)])
    }

    private func reduce(
        _ image: VipsImage, origin: Double, length: Double, target: Int
    ) throws(VipsError) -> VipsImage {
        if origin == 0, length == Double(target), count(image) == target { return image }
        let plan = ExactReduction(count: count(image), origin: origin, length: length, target: target)
        guard plan.isExact else { return try interpolate(image, origin: origin, factor: plan.factor, target: target) }
        let padded = plan.isPlain ? image : try pad(image, lead: plan.lead, trail: plan.trail)
        let reduced = try padded.applying(
            "reduce\(rawValue)", ["\(rawValue)shrink": .double(plan.factor), "kernel": "lanczos3"])
        guard count(reduced) != target || plan.skip != 0 else { return reduced }
        let (x, y) = self == .vertical ? (0, plan.skip) : (plan.skip, 0)
        return try reduced.extracting(x: x, y: y, size: raster(reduced, length: target))
    }

    /// Bicubic interpolation at the exact places, for factors so close to 1 that averaging has no effect.
    private func interpolate(
        _ image: VipsImage, origin: Double, factor: Double, target: Int
    ) throws(VipsError) -> VipsImage {
        let size = raster(image, length: target)
        return switch self {
        case .vertical: try image.mapped(to: size, across: 1, down: 1 / factor, originY: origin)
        case .horizontal: try image.mapped(to: size, across: 1 / factor, down: 1, originX: origin)
        }
    }

    private func count(_ image: VipsImage) -> Int {
        self == .vertical ? image.height : image.width
    }

    private func raster(_ image: VipsImage, length: Int) -> PixelSize {
        self == .vertical
            ? PixelSize(width: image.width, height: length) : PixelSize(width: length, height: image.height)
    }

    private func pad(_ image: VipsImage, lead: Int, trail: Int) throws(VipsError) -> VipsImage {
        let (x, y) = self == .vertical ? (0, lead) : (lead, 0)
        return try image.embeddedInCopies(in: raster(image, length: lead + count(image) + trail), x: x, y: y)
    }
}
