import DarkroomRequests
import DarkroomVips

/// Where a crop lies that shows faces.
struct FaceFraming {
    /// The largest face, its head, and the box around all heads that count.
    private let face, largest, whole: Face

    /// Nil without a face.
    init?(_ faces: [Face], _ choice: FaceFocus.Choice) {
        guard let face = faces.max(by: { $0.area < $1.area }) else { return nil }
        let largest = face.head
        (self.face, self.largest) = (face, largest)
        guard choice == .all else {
            whole = largest
            return
        }
        whole = faces.map(\.head).reduce(largest) { box, head in
            Face(
                left: min(box.left, head.left), top: min(box.top, head.top), right: max(box.right, head.right),
                bottom: max(box.bottom, head.bottom), confidence: box.confidence)
        }
    }

    /// The upper left corner of a part of an image: around the heads, and in any case around the largest, or around the
    /// middle of its face if it does not fit.
    func corner(of size: PixelSize, in image: PixelSize) -> (x: Int, y: Int) {
        (
            Self.start(
                of: size.width, in: image.width, around: whole.left...whole.right, most: largest.left...largest.right,
                face: face.left...face.right),
            Self.start(
                of: size.height, in: image.height, around: whole.top...whole.bottom, most: largest.top...largest.bottom,
                face: face.top...face.bottom)
        )
    }

    private static func start(
        of length: Int, in side: Int, around whole: ClosedRange<Double>, most: ClosedRange<Double>,
        face: ClosedRange<Double>
    ) -> Int {
        let (side, length) = (Double(side), Double(length))
        // Sides are rounded.
        let fits = (most.upperBound - most.lowerBound) * side <= length + 1
        let shown = fits ? whole : face
        var start = ((shown.lowerBound + shown.upperBound) * side - length) / 2
        if fits { start = min(max(start, most.upperBound * side - length), most.lowerBound * side) }
        return Int(min(max(start, 0), max(side - length, 0)).rounded())
    }

    /// The part of an image, of an aspect ratio, that a zoom shows.
    func window(_ aspect: Double, zoom: Double, of image: PixelSize) -> (x: Int, y: Int, size: PixelSize) {
        let (width, height) = (Double(image.width), Double(image.height))
        let widest = min(width, height * aspect)
        let closest = max((whole.right - whole.left) * width, (whole.bottom - whole.top) * height * aspect)
        let across = widest + (min(closest, widest) - widest) * zoom
        let size = PixelSize(
            width: min(PixelSize.side(across), image.width), height: min(PixelSize.side(across / aspect), image.height))
        let corner = corner(of: size, in: image)
        return (corner.x, corner.y, size)
    }
}

/// Cuts the source to the surroundings of faces, in the shape of the box that a ``Resize`` after it covers.
struct FaceZoom: Transform, Hashable {
    let focus: FaceFocus
    let resize: Resize

    var key: String { "face-zoom(\(focus.key),\(resize.key))" }

    func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan.withUnknownSize() }

    func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
        guard let canvas = try resize.planned(context.plan).canvas,
            let framing = FaceFraming(try context.faces(of: image), focus.choice)
        else { return image }
        let aspect = Double(canvas.width) / Double(canvas.height)
        return try image.extracting(framing.window(aspect, zoom: focus.zoom, of: image.size))
    }
}

extension TransformContext {
    /// The faces to show in the image of a step; none without a detector.
    func faces(of image: ImageFrames) throws -> [Face] {
        guard FaceDetector.isBuiltIn else { return [] }
        return try (faces.shown ?? FaceFinder()).faces(of: image, interrupt: interrupt)
    }
}

extension [any Transform] {
    /// The steps with a ``FaceZoom`` before the resize whose overhang a crop to faces cuts.
    var withFaceZoom: Self {
        let crop = firstIndex {
            (($0 as? CoverCrop)?.position ?? ($0 as? Clip)?.position)?.faces.map { $0.zoom > 0 } ?? false
        }
        guard let crop, let index = self[..<crop].lastIndex(where: { $0 is Resize }),
            let resize = self[index] as? Resize,
            let focus = ((self[crop] as? CoverCrop)?.position ?? (self[crop] as? Clip)?.position)?.faces
        else { return self }
        return Array(self[..<index]) + [FaceZoom(focus: focus, resize: resize)] + self[index...]
    }
}
