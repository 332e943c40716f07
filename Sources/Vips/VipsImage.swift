import DarkroomCVips

/// A libvips image: a recipe for pixels, or the pixels themselves once `rendered`.
///
/// Values are immutable, so an operation gives a new image and images may cross threads.
/// `@unchecked Sendable`: the pointer is a reference-counted GObject whose pixels libvips never changes after it is built;
/// the two functions that touch it otherwise (`setting` and `rendered`) do so on a copy that nobody else has seen.
public final class VipsImage: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<DarkroomCVips.VipsImage>

    /// Takes over one reference.
    init(taking pointer: UnsafeMutablePointer<DarkroomCVips.VipsImage>) {
        self.pointer = pointer
    }

    deinit {
        g_object_unref(pointer)
    }

    /// Columns in pixels.
    public var width: Int { Int(vips_image_get_width(pointer)) }
    /// Rows in pixels; for an animation as libvips loads it, the rows of all its frames.
    public var height: Int { Int(vips_image_get_height(pointer)) }
    /// Channels, alpha included.
    public var bands: Int { Int(vips_image_get_bands(pointer)) }
    /// Whether the last band is an alpha channel.
    public var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    /// Whether each sample is one unsigned byte.
    public var isByte: Bool { vips_image_get_format(pointer) == VIPS_FORMAT_UCHAR }
    /// Whether each sample is an unsigned 16-bit integer.
    public var isShort: Bool { vips_image_get_format(pointer) == VIPS_FORMAT_USHORT }
    /// libvips' nickname of the sample format: `uchar`, `ushort`, `float`, …
    package var sampleFormat: String {
        String(cString: vips_enum_nick(vips_band_format_get_type(), Int32(vips_image_get_format(pointer).rawValue)))
    }
    /// libvips' nickname of the colour space: `srgb`, `b-w`, `cmyk`, `rgb16`, `grey16`, …
    public var interpretation: String {
        String(
            cString: vips_enum_nick(
                vips_interpretation_get_type(), Int32(vips_image_get_interpretation(pointer).rawValue)))
    }
    /// Where this image lay in the one it was cut from, negative (libvips' `Xoffset`, `Yoffset`).
    package var offset: (x: Int, y: Int) {
        (Int(vips_image_get_xoffset(pointer)), Int(vips_image_get_yoffset(pointer)))
    }
    /// Pixels per millimetre across and down; 1 where nothing is stated.
    public var density: (x: Double, y: Double) { (vips_image_get_xres(pointer), vips_image_get_yres(pointer)) }
    /// Bytes that the pixels take in memory.
    public var byteCount: Int { Int(clamping: darkroom_image_bytes(pointer)) }

    /// Runs the operation of that nickname on this image and gives its `out`.
    ///
    /// Example: `try image.applying("gaussblur", ["sigma": 2.5])`. Throws what libvips said where it refuses.
    public func applying(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue> = [:]
    ) throws(VipsError) -> VipsImage {
        var built = try VipsOperation(operation)
        try built.setInput(self)
        for (name, value) in arguments { try built.set(name, value) }
        try built.run()
        return try built.image()
    }

    /// As `applying`, for operations of two images called `left` and `right` (`add`, `multiply`, …).
    public func combining(_ operation: String, with right: VipsImage) throws(VipsError) -> VipsImage {
        var built = try VipsOperation(operation)
        try built.set("left", .image(self))
        try built.set("right", .image(right))
        try built.run()
        return try built.image()
    }

    /// One band, or several in a row.
    public func band(_ first: Int, count: Int = 1) throws(VipsError) -> VipsImage {
        try applying("extract_band", ["band": .int(first), "n": .int(count)])
    }

    /// The bands of these images side by side, in order.
    public static func joiningBands(_ images: [VipsImage]) throws(VipsError) -> VipsImage {
        try build("bandjoin", ["in": .images(images)])
    }

    /// `out` of an operation that has no single input image.
    public static func build(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue>
    ) throws(VipsError) -> VipsImage {
        var built = try VipsOperation(operation)
        for (name, value) in arguments { try built.set(name, value) }
        try built.run()
        return try built.image()
    }

    /// Numbers that an operation on this image gives besides an image, in the order asked for.
    public func measuring(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsValue> = [:], ints names: [String]
    ) throws(VipsError) -> [Int] {
        var built = try VipsOperation(operation)
        try built.setInput(self)
        for (name, value) in arguments { try built.set(name, value) }
        try built.run()
        var numbers: [Int] = []
        for name in names { numbers.append(built.int(name)) }
        return numbers
    }

    /// The mean of all samples.
    public func average() throws(VipsError) -> Double {
        var built = try VipsOperation("avg")
        try built.setInput(self)
        try built.run()
        return built.double("out")
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
