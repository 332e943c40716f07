import DarkroomRequests

/// The sizes of one image with the rules of imgproxy, from its size after ``Layout/crop``.
///
/// Ratios are divisors, as in libvips: a divisor above 1 shrinks.
struct LayoutSizes: Hashable, Sendable {
    /// The size that the image is scaled to.
    private(set) var scaled = PixelSize(width: 1, height: 1)
    /// The box in device pixels; 0 = a side that follows from the image.
    private(set) var target = PixelSize(width: 0, height: 0)
    /// The size that the scaled image is cropped to; 0 = the whole side.
    private(set) var kept = PixelSize(width: 0, height: 0)
    /// The canvas of the box's aspect ratio; nil = none is needed.
    private(set) var canvas: PixelSize?
    /// Device pixels for a CSS pixel of offsets and paddings.
    private(set) var pixelRatio: Double

    /// - Parameters:
    ///   - box: sides and least sides in CSS pixels.
    ///   - enlarges: whether the image may grow; vector images always may.
    init(of source: PixelSize, _ layout: Layout, box: Box, enlarges: Bool, padding: Padding?) {
        pixelRatio = layout.pixelRatio
        var divisors = Self.divisors(of: source, layout, box)
        divisors = Layout.Scale(x: divisors.x / layout.zoom.x, y: divisors.y / layout.zoom.y)
        if !enlarges { keepFromGrowing(&divisors, isExtended: layout.extend != nil) }
        Self.growToLeast(&divisors, source, box)
        // At least one pixel is left of each side.
        var factors = Layout.Scale(
            x: 1 / min(divisors.x / pixelRatio, Double(source.width)),
            y: 1 / min(divisors.y / pixelRatio, Double(source.height)))
        compute(source, factors, layout, box, enlarges: enlarges)
        guard let limit = layout.maxSide, case let longest = longestSide(layout, padding), longest > limit else {
            return
        }
        let reduction = Double(limit) / Double(longest)
        factors.x = max(factors.x * reduction, 1 / Double(source.width))
        factors.y = max(factors.y * reduction, 1 / Double(source.height))
        pixelRatio *= reduction
        compute(source, factors, layout, box, enlarges: enlarges)
    }

    // MARK: Scales

    /// The divisors that fit the image to its box.
    private static func divisors(of source: PixelSize, _ layout: Layout, _ box: Box) -> Layout.Scale {
        let (width, height) = (Double(source.width), Double(source.height))
        let (across, down) = (Double(box.width ?? source.width), Double(box.height ?? source.height))
        let divisors = Layout.Scale(x: width / across, y: height / down)
        guard divisors.x != 1 || divisors.y != 1 else { return divisors }
        var sizing = layout.sizing
        if sizing == .auto { sizing = (width >= height) == (across >= down) ? .fill : .fit }
        guard sizing != .force else { return divisors }
        let divisor =
            if box.width == nil { divisors.y } else if box.height == nil { divisors.x } else if sizing == .fit {
                max(divisors.x, divisors.y)
            } else { min(divisors.x, divisors.y) }
        return Layout.Scale(x: divisor, y: divisor)
    }

    /// Scales both divisors by the same factor so that neither enlarges, with and without the pixel ratio.
    ///
    /// An image that cannot reach its box may use more of the pixel ratio, unless a canvas fixes the composition.
    private mutating func keepFromGrowing(_ divisors: inout Layout.Scale, isExtended: Bool) {
        let least = min(divisors.x, divisors.y)
        if least < 1 {
            divisors = Layout.Scale(x: divisors.x / least, y: divisors.y / least)
            if !isExtended { pixelRatio /= least }
        }
        pixelRatio = min(pixelRatio, divisors.x, divisors.y)
    }

    /// The least sides take precedence over everything else.
    private static func growToLeast(_ divisors: inout Layout.Scale, _ source: PixelSize, _ box: Box) {
        if let least = box.minWidth, case let divisor = Double(source.width) / Double(least), divisor < divisors.x {
            divisors.y /= divisors.x / divisor
            divisors.x = divisor
        }
        if let least = box.minHeight, case let divisor = Double(source.height) / Double(least), divisor < divisors.y {
            divisors.x /= divisors.y / divisor
            divisors.y = divisor
        }
    }

    // MARK: Sizes

    private mutating func compute(
        _ source: PixelSize, _ factors: Layout.Scale, _ layout: Layout, _ box: Box, enlarges: Bool
    ) {
        target = PixelSize(
            width: Self.times(box.width ?? 0, pixelRatio * layout.zoom.x),
            height: Self.times(box.height ?? 0, pixelRatio * layout.zoom.y))
        scaled = PixelSize(
            width: max(1, Self.times(source.width, factors.x)), height: max(1, Self.times(source.height, factors.y)))
        kept = target
        if layout.sizing == .fillDown, !enlarges { keepAspectRatio() }
        canvas = layout.extendRatio == nil ? nil : extendedCanvas
    }

    /// The width or the height of an image, with another side that makes its aspect ratio the box's.
    private func withRatioOfBox(_ image: PixelSize, keepsWidth: Bool) -> PixelSize {
        let (width, height) = (Double(target.width), Double(target.height))
        return keepsWidth
            ? PixelSize(width: image.width, height: Self.times(image.width, height / width))
            : PixelSize(width: Self.times(image.height, width / height), height: image.height)
    }

    /// Crops an image that does not reach the box to the box's aspect ratio.
    private mutating func keepAspectRatio() {
        let across = Double(target.width) / Double(scaled.width)
        let down = Double(target.height) / Double(scaled.height)
        if across != down, max(across, down) > 1 { kept = withRatioOfBox(scaled, keepsWidth: across > down) }
    }

    func cropped(_ image: PixelSize) -> PixelSize {
        PixelSize(
            width: kept.width == 0 ? image.width : min(kept.width, image.width),
            height: kept.height == 0 ? image.height : min(kept.height, image.height))
    }

    private var extendedCanvas: PixelSize? {
        guard target.width > 0, target.height > 0 else { return nil }
        let cropped = cropped(scaled)
        let across = Double(target.width) / Double(cropped.width)
        let down = Double(target.height) / Double(cropped.height)
        return across == down ? nil : withRatioOfBox(cropped, keepsWidth: down > across)
    }

    private func longestSide(_ layout: Layout, _ padding: Padding?) -> Int {
        let cropped = cropped(scaled)
        let canvas = (layout.extend == nil ? self.canvas : target).map(cropped.united) ?? cropped
        let sides = padding.map(scaled)?.around(canvas) ?? canvas
        return max(sides.width, sides.height)
    }

    /// A padding in device pixels.
    func scaled(_ padding: Padding) -> Padding {
        let scaled = { (side: Int) in Self.evenly(Double(side) * pixelRatio) }
        return Padding(
            top: scaled(padding.top), right: scaled(padding.right), bottom: scaled(padding.bottom),
            left: scaled(padding.left))
    }

    /// Rounded half away from zero.
    static func times(_ side: Int, _ factor: Double) -> Int { bounded((Double(side) * factor).rounded()) }

    /// Rounded half to even.
    static func evenly(_ number: Double) -> Int { bounded(number.rounded(.toNearestOrEven)) }

    private static func bounded(_ number: Double) -> Int { Int(min(max(number, -1e9), 1e9)) }
}

extension Layout.Window {
    func size(in image: PixelSize) -> PixelSize {
        PixelSize(width: Self.side(width, of: image.width), height: Self.side(height, of: image.height))
    }

    private static func side(_ length: Double, of whole: Int) -> Int {
        if length == 0 { return whole }
        return min(length >= 1 ? Int(length) : max(1, LayoutSizes.times(whole, length)), whole)
    }
}

extension Layout.Gravity {
    /// The upper left corner of an image of size `inner` within `outer`; the center for `attention` and faces. A
    /// pixel of the offsets is `pixelRatio` device pixels.
    func corner(of inner: PixelSize, in outer: PixelSize, pixelRatio: Double) -> (x: Int, y: Int) {
        let across = offset(x, of: outer.width, pixelRatio)
        let down = offset(y, of: outer.height, pixelRatio)
        let free = (x: outer.width - inner.width, y: outer.height - inner.height)
        let corner: (x: Int, y: Int) =
            switch point {
            case .focal: (across - inner.width / 2, down - inner.height / 2)
            case .anchor(let anchor): anchor.corner(of: inner, in: outer, across: across, down: down)
            case .attention, .faces: Anchor.center.corner(of: inner, in: outer, across: across, down: down)
            }
        return (min(max(corner.x, 0), max(free.x, 0)), min(max(corner.y, 0), max(free.y, 0)))
    }

    private func offset(_ length: Double, of whole: Int, _ pixelRatio: Double) -> Int {
        LayoutSizes.evenly(point != .focal && abs(length) >= 1 ? length * pixelRatio : length * Double(whole))
    }
}

extension Anchor {
    /// The upper left corner of an image of size `inner`, which may lie partly outside of `outer`. The offsets are in
    /// device pixels.
    func corner(of inner: PixelSize, in outer: PixelSize, across: Int, down: Int) -> (x: Int, y: Int) {
        (
            Self.place(across, fractions.x, free: outer.width - inner.width),
            Self.place(down, fractions.y, free: outer.height - inner.height)
        )
    }

    private static func place(_ offset: Int, _ fraction: Double, free: Int) -> Int {
        switch fraction {
        case 0: offset
        case 1: free - offset
        default: LayoutSizes.evenly(Double(free + 1) / 2) + offset
        }
    }
}
