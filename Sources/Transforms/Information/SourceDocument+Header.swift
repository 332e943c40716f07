import Crypto
import DarkroomVips
import Foundation
import NIOCore

extension SourceDocument {
    /// What the header tells. No pixel is decoded.
    init(of job: ImageJob, _ header: SourceHeader) throws(ImageProcessingError) {
        let readable = header.format == .svg ? try SVGSource.plain(job.source) : job.source
        do {
            self = try header.format.loader.withImage(of: readable, ["access": "sequential"]) { image in
                SourceDocument(of: job, header, image)
            }
        } catch {
            throw .corrupt(error.description)
        }
    }

    private init(of job: ImageJob, _ header: SourceHeader, _ image: VipsImage) {
        let texts = EmbeddedTexts(image: image, maxLength: Self.maxTextLength)
        let upright = (5...8).contains(header.orientation) ? header.size.transposed : header.size
        format = header.format.rawValue
        mimeType = header.format.mediaType
        bytes = job.source.readableBytes
        sha256 = job.identity ?? Self.digest(job.source)
        (width, height) = (header.size.width, header.size.height)
        (uprightWidth, uprightHeight) = (upright.width, upright.height)
        orientation = header.orientation
        pages = header.frames
        let moves = header.format.isAnimation && header.frames > 1
        delays = moves ? image.ints("delay") : nil
        loop = moves ? image.int("loop") : nil
        hasAlpha = image.hasAlpha
        bitDepth = image.int("heif-bitdepth") ?? image.sampleBits
        colorSpace = image.colorModel
        iccProfile = image.blob("icc-profile-data").flatMap { ICCProfile($0).description }.flatMap(texts.clean)
        density = header.format.statesDensity ? Density(image.density) : nil
        progressive = image.int("interlaced") == 1 || image.int("jpeg-multiscan") == 1
        chromaSubsampling = image.text("jpeg-chroma-subsample").flatMap(texts.clean)
        metadata = Metadata(texts)
        exif = job.output.details.contains(.exif) ? CameraSettings(texts) : nil
        gps = job.output.details.contains(.position) ? image.blob("exif-data").flatMap(GPSPosition.init(exif:)) : nil
    }

    private static let maxTextLength = 200

    private static func digest(_ source: ByteBuffer) -> String {
        var hasher = SHA256()
        source.withUnsafeReadableBytes { hasher.update(bufferPointer: $0) }
        return hasher.finalize().map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Members in one order always: equal documents are equal bytes.
    var json: ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, finite numbers and booleans: there is nothing that could fail to encode.
        return ByteBuffer(bytes: (try? encoder.encode(self)) ?? Data("{}".utf8))
    }
}

extension SourceDocument.Density {
    /// - Parameter density: pixels per millimetre; libvips says 1 where nothing is stated.
    fileprivate init?(_ density: (x: Double, y: Double)) {
        let stated = [density.x, density.y]
        guard stated != [1, 1], stated.allSatisfy({ $0.isFinite && $0 > 0 && $0 < 1e6 }) else { return nil }
        func perInch(_ value: Double) -> Double { (value * 2540).rounded() / 100 }
        self.init(x: perInch(density.x), y: perInch(density.y))
    }
}

extension SourceDocument.Metadata {
    fileprivate init(_ texts: EmbeddedTexts) {
        make = texts.exif("exif-ifd0-Make")
        model = texts.exif("exif-ifd0-Model")
        taken = texts.exif("exif-ifd2-DateTimeOriginal").flatMap(Self.moment)
        copyright = texts.exif("exif-ifd0-Copyright") ?? texts.iptc(116) ?? texts.xmp("dc:rights")
        artist = texts.exif("exif-ifd0-Artist") ?? texts.iptc(80) ?? texts.xmp("dc:creator")
        description = texts.exif("exif-ifd0-ImageDescription") ?? texts.iptc(120) ?? texts.xmp("dc:description")
    }

    /// EXIF separates date and time by a blank and the date's parts by colons.
    private static func moment(_ text: String) -> String? {
        guard let parts = text.wholeMatch(of: /(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/) else { return nil }
        return "\(parts.1)-\(parts.2)-\(parts.3)T\(parts.4)"
    }
}

extension SourceDocument.CameraSettings {
    fileprivate init(_ texts: EmbeddedTexts) {
        exposureSeconds = texts.exifNumber("exif-ifd2-ExposureTime")
        fNumber = texts.exifNumber("exif-ifd2-FNumber")
        iso = texts.exifNumber("exif-ifd2-ISOSpeedRatings").flatMap { Int(exactly: $0) }
        focalLength = texts.exifNumber("exif-ifd2-FocalLength")
        lens = texts.exif("exif-ifd2-LensModel")
        software = texts.exif("exif-ifd0-Software")
    }
}

extension SourceFormat {
    fileprivate var mediaType: String { self == .svg ? "image/svg+xml" : "image/\(rawValue)" }

    /// JPEG and PNG mean 72 where they say nothing.
    fileprivate var statesDensity: Bool { self == .jpeg || self == .png || self == .tiff }
}

extension VipsImage {
    fileprivate var sampleBits: Int {
        switch sampleFormat {
        case "uchar", "char": 8
        case "ushort", "short": 16
        case "double", "complex": 64
        default: 32
        }
    }

    fileprivate var colorModel: String {
        switch interpretation {
        case "srgb", "rgb", "rgb16", "scrgb": "rgb"
        case "b-w", "grey16": "grey"
        case "cmyk": "cmyk"
        case "lab", "labs", "labq": "lab"
        default: "other"
        }
    }
}
