import DarkroomRequests

/// The size that the region is scaled to (IIIF Image API 3.0 §4.2).
struct IIIFSize: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        case max
        case width(Int)
        case height(Int)
        case percent(Double)
        case exact(width: Int, height: Int)
        /// As large as possible within the box, with the aspect ratio of the region.
        case confined(width: Int, height: Int)
    }

    let form: Form
    /// Whether the region may be enlarged: `^`.
    let upscales: Bool

    init(_ text: String) throws(InvalidParameter) {
        upscales = text.hasPrefix("^")
        guard let form = Form(text.dropFirst(upscales ? 1 : 0)) else {
            throw InvalidParameter(
                "size", got: text, expected: "max, w, or ,h or w,h or !w,h in pixels, or pct:n, each optionally after ^"
            )
        }
        self.form = form
    }

    func scaled(_ region: PixelSize, within limits: PixelLimits) throws(InvalidParameter) -> PixelSize {
        let size = size(of: region, limits)
        try require(
            size.width >= 1 && size.height >= 1, "size", "Parameter 'size' must leave at least one pixel on each side.")
        try require(
            upscales || size.width <= region.width && size.height <= region.height, "size",
            "Parameter 'size' must not exceed the region, which is \(region) pixels, unless it begins with ^.")
        try require(
            limits.contain(size), "size",
            "Parameter 'size' must be at most \(limits.maxOutputSide) pixels per side and \(limits.maxOutputPixels) in "
                + "total, got \(size).")
        return size
    }

    private func size(of region: PixelSize, _ limits: PixelLimits) -> PixelSize {
        let (across, down) = (Double(region.width), Double(region.height))
        let wide = { PixelSize(width: $0, height: IIIFNumbers.rounded(down * Double($0) / across)) }
        let high = { PixelSize(width: IIIFNumbers.rounded(across * Double($0) / down), height: $0) }
        switch form {
        case .max:
            return upscales ? limits.largest(like: region) : limits.fitted(region)
        case .width(let width):
            return wide(width)
        case .height(let height):
            return high(height)
        case .percent(let percent):
            return PixelSize(
                width: IIIFNumbers.rounded(percent, percentOf: region.width),
                height: IIIFNumbers.rounded(percent, percentOf: region.height))
        case .exact(let width, let height):
            return PixelSize(width: width, height: height)
        case .confined(let width, let height):
            let size = Double(width) * down <= Double(height) * across ? wide(width) : high(height)
            // The limits make the image smaller instead of refusing it.
            guard upscales || size.width <= region.width else { return size }
            return limits.contain(size) ? size : limits.largest(like: region)
        }
    }

    /// The canonical size of a region that is scaled to this size (§4.8).
    static func canonical(_ size: PixelSize, of region: PixelSize, within limits: PixelLimits) -> String {
        if size == limits.fitted(region) { return "max" }
        if size == limits.largest(like: region) { return "^max" }
        let upscales = size.width > region.width || size.height > region.height
        return "\(upscales ? "^" : "")\(size.width),\(size.height)"
    }
}

extension IIIFSize.Form {
    /// A size without `^`.
    fileprivate init?(_ text: Substring) {
        if text == "max" {
            self = .max
        } else if text.hasPrefix("pct:") {
            guard let percent = IIIFNumbers.decimal(text.dropFirst(4)) else { return nil }
            self = .percent(percent)
        } else {
            let isConfined = text.hasPrefix("!")
            let sides = IIIFNumbers.pixels(text.dropFirst(isConfined ? 1 : 0))
            guard sides.count == 2 else { return nil }
            switch (sides[0], sides[1], isConfined) {
            case (let width?, let height?, true): self = .confined(width: width, height: height)
            case (let width?, let height?, false): self = .exact(width: width, height: height)
            case (let width?, nil, false): self = .width(width)
            case (nil, let height?, false): self = .height(height)
            default: return nil
            }
        }
    }
}
