import NIOCore

/// A signed history of a file (C2PA Technical Specification 2.1, §A.3). Its signature covers the bytes of the file, so
/// that no result keeps it.
enum C2PAManifest {
    /// Whether a file has one. Neither its signature nor its content is read.
    static func isPresent(in file: ByteBuffer, _ format: SourceFormat) -> Bool {
        switch format {
        case .jpeg: JPEGContainer.hasManifest(file)
        case .png: PNGContainer.hasManifest(file)
        case .webp: WebPContainer.hasManifest(file)
        case .gif: GIFContainer.hasManifest(file)
        case .avif, .heic: HEIFContainer.hasManifest(file)
        case .jxl: JPEGXLContainer.hasManifest(file)
        case .tiff: TIFFDirectory(of: file, page: 0)?.hasManifest ?? false
        default: false
        }
    }
}

extension ByteBuffer {
    /// Whether a box of JUMBF begins there that is a store of manifests (ISO/IEC 19566-5). Only its beginning need be
    /// in the bytes.
    ///
    /// - Parameter offset: from the first readable byte.
    func beginsManifest(at offset: Int) -> Bool {
        let start = readerIndex + offset
        return getString(at: start + 4, length: 4) == "jumb" && getString(at: start + 12, length: 4) == "jumd"
            && getString(at: start + 16, length: 4) == "c2pa"
    }
}

extension HEIFContainer {
    /// Whether there is a box with a C2PA manifest.
    static func hasManifest(_ file: ByteBuffer) -> Bool {
        var rest = file
        for _ in 0..<maxEntries {
            guard let box = ISOBox(from: &rest) else { return false }
            if box.type == "uuid", box.content.readableBytesView.starts(with: manifestType) { return true }
        }
        return false
    }

    private static let manifestType: [UInt8] = [
        0xD8, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4, 0x81,
    ]
}
