import DarkroomRequests

/// The sizes that another service gives the result of a ``Resize``.
enum DialectSizes: Hashable, Sendable {
    case wsrv
    /// Whether imagor decodes the image in full before it scales it. The missing side of a box is then rounded down,
    /// and a side that is too small enlarges the other side.
    case thumbor(loadsWhole: Bool)
    case cloudflare

    /// The sizes' part of a step's key.
    var key: String {
        switch self {
        case .wsrv: "wsrv"
        case .thumbor(let loadsWhole): loadsWhole ? "thumbor,whole" : "thumbor"
        case .cloudflare: "cloudflare"
        }
    }

    /// The sizes of an image; nil if they are Darkroom's own.
    ///
    /// - Parameter box: sides in pixels.
    func geometry(of source: PixelSize, box: Box, fit: Fit, enlarge: Bool, isVector: Bool) -> ResizeGeometry? {
        switch self {
        case .wsrv: ResizeGeometry(wsrv: source, box: box, fit: fit, enlarge: enlarge)
        case .thumbor(let loadsWhole):
            ResizeGeometry(
                thumbor: source, box: box, fit: fit, enlarge: enlarge || isVector, loadsWhole: loadsWhole)
        case .cloudflare where fit == .outside && enlarge: ResizeGeometry(enlargingOnly: source, into: box)
        case .cloudflare where fit == .outside && box.size != nil:
            ResizeGeometry(wsrv: source, box: box, fit: .cover, enlarge: isVector)
        case .cloudflare: nil
        }
    }
}

extension ResizeGeometry {
    /// The sizes of imagor, which are libvips' thumbnail sizes. The canvas is the box that `fill` extends to, and that
    /// `cover` crops to.
    fileprivate init(thumbor source: PixelSize, box: Box, fit: Fit, enlarge: Bool, loadsWhole: Bool) {
        guard box.width != nil || box.height != nil else {
            self.init(scaled: source)
            return
        }
        guard loadsWhole || fit == .outside || fit == .fill && box.size == nil else {
            self.init(thumbnailOf: source, box: box, fit: fit, enlarge: enlarge)
            return
        }
        var size = Self.completed(box, like: source, enlarge: enlarge)
        if fit == .outside, box.size != nil { size = Self.smallestBox(around: size, like: source) }
        let isSmaller = size.width < source.width || size.height < source.height
        let isSmallerBothWays = size.width < source.width && size.height < source.height
        self.init(scaled: source, canvas: size)
        switch fit {
        case .inside, .outside, .contain:
            if enlarge || isSmaller { scaled = Self.thumbnail(of: source, within: size) }
        case .fill:
            if enlarge || isSmallerBothWays { scaled = size }
        case .cover:
            if enlarge || isSmaller { scaled = Self.covering(size, with: source) }
        }
    }

    /// The sizes of an image that is enlarged to fit into a box if it is smaller, and otherwise keeps its size.
    fileprivate init(enlargingOnly source: PixelSize, into box: Box) {
        let across = box.width.map { Double($0) / Double(source.width) }
        let down = box.height.map { Double($0) / Double(source.height) }
        let factor = max(min(across ?? .infinity, down ?? .infinity), 1)
        self.init(scaled: factor.isFinite ? source.scaled(by: factor) : source)
    }

    private init(thumbnailOf source: PixelSize, box: Box, fit: Fit, enlarge: Bool) {
        let bounds = PixelSize(width: box.width ?? PixelSize.maxSide, height: box.height ?? PixelSize.maxSide)
        let isWithin = source.width <= bounds.width && source.height <= bounds.height
        var scaled: PixelSize
        switch fit {
        case .fill: scaled = bounds
        case .cover where box.size != nil:
            let shrinks = source.width > bounds.width && source.height > bounds.height
            scaled = enlarge || shrinks ? Self.covering(bounds, with: source) : source
        case .inside, .outside, .contain, .cover:
            scaled = enlarge || !isWithin ? Self.thumbnail(of: source, within: bounds) : source
        }
        self.init(scaled: scaled, canvas: Self.completed(box, like: scaled, enlarge: enlarge))
    }

    /// The box with its missing side, rounded down.
    private static func completed(_ box: Box, like image: PixelSize, enlarge: Bool) -> PixelSize {
        func side(_ length: Int, within limit: Int) -> Int { max(enlarge ? length : min(length, limit), 1) }
        let width = box.height.map { side(image.width * $0 / image.height, within: image.width) }
        let height = box.width.map { side(image.height * $0 / image.width, within: image.height) }
        return PixelSize(width: box.width ?? width ?? image.width, height: box.height ?? height ?? image.height)
    }

    /// The smallest box with the image's aspect ratio around another box, rounded up.
    private static func smallestBox(around box: PixelSize, like image: PixelSize) -> PixelSize {
        let aspect = Double(image.width) / Double(image.height)
        guard aspect < Double(box.width) / Double(box.height) else {
            return PixelSize(width: Int((Double(box.height) * aspect).rounded(.up)), height: box.height)
        }
        return PixelSize(width: box.width, height: Int((Double(box.width) / aspect).rounded(.up)))
    }

    /// The largest size of the image's shape within a box, as libvips rounds it.
    static func thumbnail(of image: PixelSize, within box: PixelSize) -> PixelSize {
        shrunk(image, by: box.factor(toCover: image))
    }

    private static func covering(_ box: PixelSize, with image: PixelSize) -> PixelSize {
        shrunk(image, by: box.factor(toFit: image))
    }

    private static func shrunk(_ image: PixelSize, by divisor: Double) -> PixelSize {
        PixelSize(
            width: PixelSize.side((Double(image.width) / divisor + 0.5).rounded(.down)),
            height: PixelSize.side((Double(image.height) / divisor + 0.5).rounded(.down)))
    }
}

extension ResizeGeometry {
    /// The sizes of weserv/images. A result is never enlarged by half a step: without `enlarge`, each side that would
    /// grow stays unchanged, and the other side is scaled as usual. `fill` stretches a single side.
    fileprivate init(wsrv source: PixelSize, box: Box, fit: Fit, enlarge: Bool) {
        var (across, down) = Self.shrinks(of: source, to: box, fit: fit)
        if !enlarge { (across, down) = (max(1, across), max(1, down)) }
        let scaled = PixelSize(
            width: Self.side(source.width, shrunkBy: across), height: Self.side(source.height, shrunkBy: down))
        self.init(scaled: scaled)
        guard fit == .cover || fit == .contain else { return }
        canvas = PixelSize(width: box.width ?? scaled.width, height: box.height ?? scaled.height)
    }

    /// The divisors of the sides.
    private static func shrinks(of source: PixelSize, to box: Box, fit: Fit) -> (across: Double, down: Double) {
        let across = box.width.map { Double(source.width) / Double($0) }
        let down = box.height.map { Double(source.height) / Double($0) }
        guard let across, let down else {
            let only = across ?? down ?? 1
            return fit == .fill ? (across ?? 1, down ?? 1) : (only, only)
        }
        switch fit {
        case .fill: return (across, down)
        case .cover, .outside: return (min(across, down), min(across, down))
        case .inside, .contain: return (max(across, down), max(across, down))
        }
    }

    /// Rounded half to even, as C's `rint` does.
    private static func side(_ length: Int, shrunkBy divisor: Double) -> Int {
        max(1, Int((Double(length) / divisor).rounded(.toNearestOrEven)))
    }
}
