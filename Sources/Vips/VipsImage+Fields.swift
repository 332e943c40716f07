import DarkroomCVips
public import NIOCore

/// The named fields that travel with an image: `orientation`, `n-pages`, `icc-profile-data`, `exif-ifd0-Copyright`, …
extension VipsImage {
    /// Whether the image carries the field.
    public func has(_ field: String) -> Bool {
        vips_image_get_typeof(pointer, field) != 0
    }

    /// An integer field; nil where it is missing or of another type.
    public func int(_ field: String) -> Int? {
        var number: Int32 = 0
        guard vips_image_get_typeof(pointer, field) == darkroom_type_int(),
            vips_image_get_int(pointer, field, &number) == 0
        else { return nil }
        return Int(number)
    }

    /// A field of integers, such as `delay` in milliseconds a frame.
    public func ints(_ field: String) -> [Int]? {
        var numbers: UnsafeMutablePointer<Int32>?
        var count: Int32 = 0
        guard vips_image_get_typeof(pointer, field) == vips_array_int_get_type(),
            vips_image_get_array_int(pointer, field, &numbers, &count) == 0
        else { return nil }
        return UnsafeBufferPointer(start: numbers, count: Int(count)).map(Int.init)
    }

    /// Any field as libvips prints it.
    public func text(_ field: String) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard has(field), vips_image_get_as_string(pointer, field, &text) == 0, let text else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// A copy of a binary field, such as `icc-profile-data`.
    public func blob(_ field: String) -> ByteBuffer? {
        var data: UnsafeRawPointer?
        var length = 0
        guard vips_image_get_typeof(pointer, field) == vips_blob_get_type(),
            vips_image_get_blob(pointer, field, &data, &length) == 0
        else { return nil }
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: data, count: length))
    }

    /// Bytes that the texts and binary fields take in memory: a file's metadata may be larger than its pixels.
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

    /// The names of all fields that are not part of the fixed header.
    public var fields: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        var list: [String] = []
        var slot = names
        while let name = slot.pointee {
            list.append(String(cString: name))
            slot += 1
        }
        return list
    }

    /// The same pixels under other fields: `removing` first, then the new values.
    public func setting(
        removing: [String] = [], ints: [String: Int] = [:], arrays: [String: [Int]] = [:],
        texts: [String: String] = [:]
    ) throws(VipsError) -> VipsImage {
        let copy = try applying("copy")
        for name in removing { vips_image_remove(copy.pointer, name) }
        for (name, number) in ints { vips_image_set_int(copy.pointer, name, Int32(clamping: number)) }
        for (name, numbers) in arrays {
            vips_image_set_array_int(
                copy.pointer, name, numbers.map { Int32(clamping: $0) }, Int32(clamping: numbers.count))
        }
        // In one order always: encoders write fields as they come, and equal pictures shall be equal bytes.
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) { vips_image_set_string(copy.pointer, name, text) }
        return copy
    }
}
