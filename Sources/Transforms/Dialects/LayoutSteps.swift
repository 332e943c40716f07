import DarkroomRequests
import DarkroomVips

/// Scales to the size that the rules of imgproxy give.
package struct LayoutResize: Transform, Hashable {
    let layout: Layout
    let box: Box
    let enlarge: Bool
    var resampling: Resampling
    let padding: Padding?

    package var key: String {
        let sides =
            [box.horizontal, box.vertical].map { $0.map { "\($0)" } ?? "-" }
            + [box.minWidth, box.minHeight].map { $0.map(String.init) ?? "-" }
        let padding = padding.map { "\($0.top) \($0.right) \($0.bottom) \($0.left)" } ?? "-"
        let way = enlarge ? "enlarge" : "shrink"
        return "layout(\(sides.joined(separator: ",")),\(way),\(padding),\(layout.text),\(resampling.rawValue))"
    }

    package func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let sizes = LayoutSizes(
            of: plan.size, layout, box: pixels(in: plan.size), enlarges: enlarge || plan.isVector, padding: padding)
        let scaled = sizes.scaled
        return plan.scaling(to: scaled, canvas: scaled, inLinearLight: resampling == .linear).laidOut(by: sizes)
    }

    /// The box with its sides in pixels.
    private func pixels(in image: PixelSize) -> Box {
        var box = box
        box.width = box.horizontal.map { max(1, $0.measured(in: image.width)) }
        box.height = box.vertical.map { max(1, $0.measured(in: image.height)) }
        return box
    }

    package func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        // The sizes of a trimmed image are known only now.
        try image.resampled(to: context.plan.size, averaging: context.plan.averaging(for: resampling))
    }
}

/// Cuts or extends an image by the rules of imgproxy.
struct LayoutCanvas: Transform, Hashable {
    enum Kind: String {
        /// ``Layout/crop``, before scaling.
        case window
        /// The overhang of `fill`.
        case kept
        case extend, extendRatio
        case padding
    }

    let kind: Kind
    let layout: Layout
    var padding = Padding(0)

    var key: String {
        kind == .padding
            ? "layout-padding(\(padding.top),\(padding.right),\(padding.bottom),\(padding.left))"
            : "layout-\(kind.rawValue)(\(layout.text))"
    }

    var cost: TransformCost {
        guard let contentCrop else { return .none }
        return contentCrop.costWithoutOverview
    }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        let size = size(of: plan.size, plan.layout)
        switch kind {
        case .window: return plan.requiringEveryPixel().changingSize(to: size)
        case .kept: return plan.changingSize(to: size)
        case .extend, .extendRatio, .padding:
            return plan.changingSize(to: size).withAlpha(plan.hasAlpha || size != plan.size)
        }
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = context.plan.size
        guard size != image.size else { return image }
        let ratio = kind == .window ? 1 : context.plan.layout?.pixelRatio ?? 1
        let corner: (x: Int, y: Int)
        switch kind {
        case .window, .kept:
            if let contentCrop { return try contentCrop.apply(image, context: context) }
            corner = gravity.corner(of: size, in: image.size, pixelRatio: ratio)
            return try image.extracting((corner.x, corner.y, size))
        case .extend, .extendRatio:
            corner = gravity.corner(of: image.size, in: size, pixelRatio: ratio)
        case .padding:
            let padding = context.plan.layout?.scaled(padding) ?? padding
            corner = (padding.left, padding.top)
        }
        return try image.mapFrames { frame throws(VipsError) in
            try frame.embedded(in: size, x: corner.x, y: corner.y, on: .transparent)
        }
    }

    /// The crop that decides by content; nil = none does.
    private var contentCrop: CoverCrop? {
        guard onlyCrops else { return nil }
        switch gravity.point {
        case .attention: return CoverCrop(box: nil, position: .attention)
        case .faces(let choice): return CoverCrop(box: nil, position: .faces(FaceFocus(choice)))
        case .anchor, .focal: return nil
        }
    }

    /// Whether it extends no image.
    var onlyCrops: Bool { kind == .window || kind == .kept }
    var dependsOnPixels: Bool { contentCrop != nil }

    /// The faces that it shows; nil = it looks for none.
    var faces: FaceFocus? { contentCrop?.position.faces }

    private var gravity: Layout.Gravity {
        switch kind {
        case .window: layout.crop?.gravity ?? layout.gravity
        case .kept, .padding: layout.gravity
        case .extend: layout.extend ?? layout.gravity
        case .extendRatio: layout.extendRatio ?? layout.gravity
        }
    }

    private func size(of image: PixelSize, _ sizes: LayoutSizes?) -> PixelSize {
        let sides: PixelSize?
        switch kind {
        case .window: return layout.crop?.size(in: image) ?? image
        case .padding: return (sizes?.scaled(padding) ?? padding).around(image)
        case .kept: return sizes?.cropped(image) ?? image
        case .extend: sides = sizes?.target
        case .extendRatio: sides = sizes?.canvas
        }
        return sides.map(image.united) ?? image
    }
}

/// Crops a resized image on each side that exceeds its canvas. Other sides, which only some rules leave, stay shorter.
struct Clip: Transform, Hashable {
    /// Which part is kept. Of an animation, `entropy` and `attention` keep the center, and so do faces if none is
    /// found.
    var position: Position

    /// The crop of the source before a ``Position/point(x:y:)``; nil = the whole source.
    var crop: Crop?

    init(position: Position, after crop: Crop? = nil) {
        self.position = position
        if case .point = position { self.crop = crop }
    }

    var key: String { "clip(\(position.key)\(crop.map { ",\($0.key)" } ?? ""))" }

    var cost: TransformCost { CoverCrop(box: nil, position: position).costWithoutOverview }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan {
        plan.changingSize(to: plan.size.clipped(to: plan.canvas ?? plan.size))
    }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        let size = context.plan.size
        guard size != image.size else { return image }
        let upright = context.plan.uprightSource
        let position = try position.pinned(context.plan, cropped: crop?.rectangle(in: upright))
        guard position.dependsOnPixels, image.isAnimated else {
            return try CoverCrop(box: nil, position: position).apply(image, context: context)
        }
        let hasFaces = try position.faces != nil && !context.faces(of: image).isEmpty
        return try CoverCrop(box: nil, position: hasFaces ? position : .center).apply(image, context: context)
    }
}
