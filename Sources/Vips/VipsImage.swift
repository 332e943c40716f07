import DarkroomCVips

/// A libvips image: a lazy pipeline of operations, or pixels in memory once `rendered`.
///
/// Images are immutable: an operation returns a new image, and images may cross threads. `@unchecked Sendable`: the
/// pointer is a reference-counted GObject whose pixels libvips never changes after it is built; the two functions that
/// modify one (`setting` and `rendered`) do so on a copy that is not shared yet.
public final class VipsImage: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<DarkroomCVips.VipsImage>
    /// The images whose bands were joined into this image, in order; otherwise empty.
    private let parts: [VipsImage]

    /// Takes ownership of one reference.
    init(taking pointer: UnsafeMutablePointer<DarkroomCVips.VipsImage>, parts: [VipsImage] = []) {
        self.pointer = pointer
        self.parts = parts
    }

    deinit {
        VipsRuntime.exclusively { g_object_unref(pointer) }
    }

    /// The width in pixels.
    public var width: Int { Int(vips_image_get_width(pointer)) }
    /// The height in pixels; for an animation as libvips loads it, of all its frames together.
    public var height: Int { Int(vips_image_get_height(pointer)) }
    /// The number of channels, including alpha.
    public var bands: Int { Int(vips_image_get_bands(pointer)) }
    /// Whether the last band is an alpha channel.
    public var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    /// Whether samples are unsigned 8-bit integers.
    public var isByte: Bool { vips_image_get_format(pointer) == VIPS_FORMAT_UCHAR }
    /// Whether samples are unsigned 16-bit integers.
    public var isShort: Bool { vips_image_get_format(pointer) == VIPS_FORMAT_USHORT }
    /// libvips' nickname for the sample format: `uchar`, `ushort`, `float`, …
    package var sampleFormat: String {
        String(cString: vips_enum_nick(vips_band_format_get_type(), Int32(vips_image_get_format(pointer).rawValue)))
    }
    /// libvips' nickname for the color space: `srgb`, `b-w`, `cmyk`, `rgb16`, `grey16`, …
    public var interpretation: String {
        String(
            cString: vips_enum_nick(
                vips_interpretation_get_type(), Int32(vips_image_get_interpretation(pointer).rawValue)))
    }
    /// The negated position in the image from which this image was cropped (libvips' `Xoffset`, `Yoffset`).
    package var offset: (x: Int, y: Int) {
        (Int(vips_image_get_xoffset(pointer)), Int(vips_image_get_yoffset(pointer)))
    }
    /// Horizontal and vertical pixels per millimeter; 1 if the file states none.
    public var density: (x: Double, y: Double) { (vips_image_get_xres(pointer), vips_image_get_yres(pointer)) }
    /// The memory of all pixels in bytes.
    public var byteCount: Int { Int(clamping: darkroom_image_bytes(pointer)) }

    /// Runs a libvips operation by its nickname on this image and returns its `out`.
    ///
    /// Example: `try image.applying("gaussblur", ["sigma": 2.5])`. Throws if libvips refuses the operation or an
    /// argument.
    public func applying(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue> = [:]
    ) throws(VipsError) -> VipsImage {
        try built(operation, arguments).image()
    }

    /// The operation after it has run on this image.
    private func built(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue> = [:]
    ) throws(VipsError) -> VipsOperation {
        var built = try VipsOperation(operation)
        try built.setInput(self)
        try built.run(arguments)
        return built
    }

    /// Runs an operation with this image as `left` and another as `right`, such as `add` or `multiply`.
    public func combining(_ operation: String, with right: VipsImage) throws(VipsError) -> VipsImage {
        try VipsImage.build(operation, ["left": .image(self), "right": .image(right)])
    }

    /// One band, or several consecutive ones, counted from 0.
    ///
    /// Bands that were just joined are taken from the image that they came from: to extract them, libvips would compute
    /// all bands, and in a chain of steps that take bands apart and join them, twice as much with each step.
    public func band(_ first: Int, count: Int = 1) throws(VipsError) -> VipsImage {
        if let part = part(first, count: count) {
            return part.interpretation == interpretation
                ? part : try part.applying("copy", ["interpretation": .string(interpretation)])
        }
        return try applying("extract_band", ["band": .int(first), "n": .int(count)])
    }

    /// The joined image that has exactly these bands.
    private func part(_ first: Int, count: Int) -> VipsImage? {
        var start = 0
        for part in parts {
            if start == first, part.bands == count, part.sampleFormat == sampleFormat { return part }
            start += part.bands
        }
        return nil
    }

    /// Whether the image was joined from other images, so that its bands can be separated again at no cost.
    package var isJoined: Bool { !parts.isEmpty }

    /// An image of the bands of all these images, in order.
    public static func joiningBands(_ images: [VipsImage]) throws(VipsError) -> VipsImage {
        let joined = try build("bandjoin", ["in": .images(images)])
        let height = joined.height
        // libvips fills smaller images up.
        let isWhole = images.allSatisfy { $0.width == joined.width && $0.height == height }
        guard isWhole else { return joined }
        g_object_ref(joined.pointer)
        return VipsImage(taking: joined.pointer, parts: images)
    }

    /// Runs an operation without a single input image and returns its `out`.
    public static func build(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue>
    ) throws(VipsError) -> VipsImage {
        var built = try VipsOperation(operation)
        try built.run(arguments)
        return try built.image()
    }

    /// Runs an operation on this image and returns integer outputs, in the order of `names`.
    public func measuring(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue> = [:], ints names: [String]
    ) throws(VipsError) -> [Int] {
        let built = try built(operation, arguments)
        return names.map { built.int($0) }
    }

    /// The mean of all samples.
    public func average() throws(VipsError) -> Double {
        try built("avg").double("out")
    }

    /// The largest of all samples.
    package func maximum() throws(VipsError) -> Double {
        try built("max").double("out")
    }

    /// The samples of one pixel, band by band.
    public func pixel(x: Int, y: Int) throws(VipsError) -> [Double] {
        var vector: UnsafeMutablePointer<Double>?
        var count: Int32 = 0
        guard darkroom_getpoint(pointer, &vector, &count, Int32(x), Int32(y)) == 0, let vector else {
            throw .taken(after: "getpoint")
        }
        defer { g_free(vector) }
        return Array(UnsafeBufferPointer(start: vector, count: Int(count)))
    }
}

/// Small images that operations take as parameters.
extension VipsImage {
    /// A lookup table for `maplut`: one row of entries of 8 or 16 bits, the same in all bands.
    package static func table<Entry: FixedWidthInteger>(_ entries: [Entry], bands: Int = 1) -> VipsImage {
        let samples = bands == 1 ? entries : entries.flatMap { repeatElement($0, count: bands) }
        let format = Entry.bitWidth == 8 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT
        guard let made = copying(samples, width: entries.count, height: 1, bands: bands, format) else {
            preconditionFailure("no memory for a table of \(samples.count) entries")
        }
        return made
    }

    /// A lookup table for `maplut` with fractions: one row of 256 or 65,536 entries, the same in all bands.
    package static func table(_ entries: [Float]) -> VipsImage {
        guard let made = copying(entries, width: entries.count, height: 1, bands: 1, VIPS_FORMAT_FLOAT) else {
            preconditionFailure("no memory for a table of \(entries.count) entries")
        }
        return made
    }

    /// A matrix for `conv` or `recomb`, with rows of equal length. `scale` divides the sums of a convolution.
    package static func matrix(_ rows: [[Double]], scale: Double = 1) -> VipsImage {
        VipsRuntime.start()
        let columns = Int32(rows.first?.count ?? 0)
        let flat = rows.flatMap(\.self)
        guard let made = vips_image_new_matrix_from_array(columns, Int32(rows.count), flat, Int32(flat.count)) else {
            preconditionFailure("a matrix needs rows of equal length")
        }
        vips_image_set_double(made, "scale", scale)
        return VipsImage(taking: made)
    }

    /// An image with a copy of these samples; nil if their number does not match, or memory is exhausted.
    static func copying<Sample>(
        _ samples: [Sample], width: Int, height: Int, bands: Int, _ format: VipsBandFormat
    ) -> VipsImage? {
        VipsRuntime.start()
        return samples.withUnsafeBytes { raw in
            vips_image_new_from_memory_copy(
                raw.baseAddress, raw.count, Int32(width), Int32(height), Int32(bands), format)
        }.map { VipsImage(taking: $0) }
    }
}
