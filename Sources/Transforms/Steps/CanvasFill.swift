public import DarkroomRequests
import DarkroomVips

extension FillColor {
    /// The color's part of a transform's key.
    var key: String {
        switch self {
        case .color(let color): color.hex
        case .average: "average"
        }
    }

    /// How a step with this color reads the image.
    var reading: InputReading { self == .average ? .repeatedly : .once }

    func shade(for image: ImageFrames) throws(VipsError) -> Color {
        switch self {
        case .color(let color): return color
        case .average:
            let opaque = try image.first.flattened(on: .white)
            let means = try (0..<3).map { band throws(VipsError) in
                UInt8(min(max(try opaque.band(min(band, opaque.bands - 1)).average().rounded(), 0), 255))
            }
            return Color(red: means[0], green: means[1], blue: means[2])
        }
    }
}

/// Puts a transparent image on a color, at its place in a list of steps.
struct FlattenStep: Transform, Hashable {
    let color: FillColor

    var key: String { "flatten(\(color.key))" }
    var reading: InputReading { color.reading }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.withAlpha(false) }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard image.first.hasAlpha else { return image }
        let color = try color.shade(for: image).opaque
        return try Flatten(color).apply(image, context: context)
    }
}

extension CanvasFill: Transform {
    public var key: String {
        let space = "\(padding.top) \(padding.right) \(padding.bottom) \(padding.left)"
        let color =
            switch fill {
            case .color(let color): color.key
            case .blur: "blur"
            }
        return "canvas(\(extent.rawValue),\(color),\(space))"
    }

    public var cost: TransformCost {
        guard fill == .blur else { return TransformCost(nanosecondsPerPixel: 7) }
        var cost = TransformCost(
            nanosecondsPerPixel: 22, nanosecondsPerPixelWithAlpha: 140, nanosecondsPerFrame: 2e6, bytesPerPixel: 6,
            bytesPerPixelWithAlpha: 10, bytesPerFrame: 200_000)
        // What an opaque image covers of the backdrop is not computed.
        cost.nanosecondsPerAddedPixel = 68
        return cost
    }

    public var reading: InputReading {
        switch fill {
        case .color(let color): color.reading
        case .blur: .repeatedly
        }
    }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let inner =
            switch extent {
            case .image: plan.size
            case .box: plan.canvas ?? plan.size
            case .turnedBox: plan.canvas?.transposed ?? plan.size
            }
        let hasAlpha =
            switch fill {
            case .color(.color(let color)): color.alpha < 255
            case .color(.average): false
            case .blur: plan.hasAlpha
            }
        return plan.requiringEveryPixel().changingSize(to: turnedPadding.around(inner)).withAlpha(hasAlpha)
    }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let (canvas, space) = (context.plan.size, turnedPadding)
        let inner = space.within(canvas)
        let (x, y) = (
            (inner.width - image.size.width) / 2 + space.left, (inner.height - image.size.height) / 2 + space.top
        )
        guard case .color(let color) = fill else {
            return try blurred(image, on: canvas, x: x, y: y, context: context)
        }
        let shade = try color.shade(for: image)
        return try image.mapFrames { frame throws(VipsError) in
            guard shade.alpha > 0 else { return try frame.embedded(in: canvas, x: x, y: y, on: shade) }
            return try frame.flattened(on: shade).embedded(in: canvas, x: x, y: y, on: shade.opaque)
        }
    }

    private func blurred(
        _ image: ImageFrames, on canvas: PixelSize, x: Int, y: Int, context: TransformContext
    ) throws -> ImageFrames {
        let stretched = try image.mapFrames { frame throws(VipsError) in try frame.resampled(to: canvas).rendered() }
        var backdrops = try Blur(sigma: 50).apply(stretched, context: context).frames.makeIterator()
        return try image.mapFrames { frame throws(VipsError) in
            try backdrops.next()?.covered(by: frame, x: x, y: y) ?? frame
        }
    }

    /// The padding is rotated with the box.
    private var turnedPadding: Padding {
        guard extent == .turnedBox else { return padding }
        return Padding(top: padding.left, right: padding.bottom, bottom: padding.right, left: padding.top)
    }
}
