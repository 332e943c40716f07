import DarkroomCVips

/// Small images that operations take as their data.
extension VipsImage {
    /// A look-up table for `maplut`: one band, one entry a column, entries of 8 or 16 bits.
    package static func table<Entry: FixedWidthInteger>(_ entries: [Entry]) -> VipsImage {
        small(entries, format: Entry.bitWidth == 8 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT)
    }

    /// A matrix for `conv` or `recomb`; rows of equal length. `scale` divides what a convolution sums up.
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

    private static func small<Entry>(_ entries: [Entry], format: VipsBandFormat) -> VipsImage {
        VipsRuntime.start()
        let made = entries.withUnsafeBytes { raw in
            vips_image_new_from_memory_copy(raw.baseAddress, raw.count, Int32(entries.count), 1, 1, format)
        }
        guard let made else { preconditionFailure("no memory for a table of \(entries.count) entries") }
        return VipsImage(taking: made)
    }
}
