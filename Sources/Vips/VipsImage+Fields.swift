import DarkroomCVips
public import NIOCore

/// The named metadata fields of an image: `orientation`, `n-pages`, `icc-profile-data`, `exif-ifd0-Copyright`, …
extension VipsImage {
    public func has(_ field: String) -> Bool {
        vips_image_get_typeof(pointer, field) != 0
    }

    /// The value of an integer field; nil if it is missing or of another type.
    public func int(_ field: String) -> Int? {
        var number: Int32 = 0
        guard vips_image_get_typeof(pointer, field) == darkroom_type_int(),
            vips_image_get_int(pointer, field, &number) == 0
        else { return nil }
        return Int(number)
    }

    /// The value of a field of integers, such as `delay` in milliseconds per frame; nil if it is missing or of another
    /// type.
    public func ints(_ field: String) -> [Int]? {
        var numbers: UnsafeMutablePointer<Int32>?
        var count: Int32 = 0
        guard vips_image_get_typeof(pointer, field) == vips_array_int_get_type(),
            vips_image_get_array_int(pointer, field, &numbers, &count) == 0
        else { return nil }
        return UnsafeBufferPointer(start: numbers, count: Int(count)).map(Int.init)
    }

    /// The value of any field as libvips prints it; nil if it is missing.
    public func text(_ field: String) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard has(field), vips_image_get_as_string(pointer, field, &text) == 0, let text else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// A copy of a binary field, such as `icc-profile-data`; nil if it is missing or of another type.
    public func blob(_ field: String) -> ByteBuffer? {
        var data: UnsafeRawPointer?
        var length = 0
        guard vips_image_get_typeof(pointer, field) == vips_blob_get_type(),
            vips_image_get_blob(pointer, field, &data, &length) == 0
        else { return nil }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: data, count: length))
    }

    /// The memory of text and binary fields in bytes; a file's metadata may be larger than its pixels.
    package var fieldByteCount: Int {
        fields.reduce(0) { sum, field in
            var data: UnsafeRawPointer?
            var length = 0
            if vips_image_get_typeof(pointer, field) == vips_blob_get_type() {
                vips_image_get_blob(pointer, field, &data, &length)
            } else {
                length = text(field)?.utf8.count ?? 0
            }
            return sum + field.utf8.count + length
        }
    }

    /// The names of all metadata fields.
    public var fields: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        return (0..<Int(g_strv_length(names))).compactMap { index in names[index].map { String(cString: $0) } }
    }

    /// The same pixels with changed fields: the fields in `removing` are removed first, then the new values are set.
    public func setting(
        removing: [String] = [], ints: [String: Int] = [:], arrays: [String: [Int]] = [:],
        texts: [String: String] = [:], blobs: [String: ByteBuffer] = [:]
    ) throws(VipsError) -> VipsImage {
        let copy = try applying("copy")
        for name in removing { vips_image_remove(copy.pointer, name) }
        for (name, number) in ints { vips_image_set_int(copy.pointer, name, Int32(clamping: number)) }
        for (name, numbers) in arrays {
            vips_image_set_array_int(
                copy.pointer, name, numbers.map { Int32(clamping: $0) }, Int32(clamping: numbers.count))
        }
        // Encoders write fields in order, and equal images must be equal bytes.
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) { vips_image_set_string(copy.pointer, name, text) }
        for (name, blob) in blobs {
            blob.withUnsafeReadableBytes { vips_image_set_blob_copy(copy.pointer, name, $0.baseAddress, $0.count) }
        }
        return copy
    }
}
