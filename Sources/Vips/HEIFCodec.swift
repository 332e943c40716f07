import DarkroomCVips

/// The compressions of pixels in HEIF files, by their numbers in libheif.
package enum HEIFCodec: Int32, Sendable, CaseIterable {
    /// The compression of HEIC.
    case hevc = 1
    /// The compression of AVIF.
    case av1 = 4

    /// Whether libheif can decode it. libvips has a loader for HEIF files even if libheif has no decoder, which may be
    /// a package of its own.
    package var canDecode: Bool { has("heif_have_decoder_for_format") }

    /// Whether libheif can encode it.
    package var canEncode: Bool { has("heif_have_encoder_for_format") }

    private func has(_ function: String) -> Bool {
        VipsRuntime.start()
        return darkroom_heif_has(function, rawValue) != 0
    }

    /// The version of the loaded libheif; nil if it is not loaded.
    package static var libraryVersion: (major: Int, minor: Int)? {
        VipsRuntime.start()
        // One byte for each part, from the highest on.
        let number = Int(darkroom_heif_version())
        return number == 0 ? nil : (number >> 24, number >> 16 & 0xff)
    }
}
