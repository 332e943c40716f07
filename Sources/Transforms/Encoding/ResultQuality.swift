package import DarkroomRequests

/// The quality that an encoder was given, where the image decided it: for `q=auto` and `max_bytes`; or that the source
/// itself is the result.
public struct ResultQuality: Hashable, Sendable, CustomStringConvertible {
    /// 1…100; nil = the encoding is lossless, or is the source's encoding.
    public let value: Int?
    /// Whether the result has at most the requested number of bytes.
    public let fits: Bool
    /// Whether the result has the pixel data of the source (``Passthrough/auto``), not encoded again.
    public private(set) var isSource = false

    /// A quality outside of 1…100 becomes the nearest valid quality.
    public init(value: Int?, fits: Bool = true) {
        self.value = value.map { min(max($0, 1), 100) }
        self.fits = fits
    }

    /// The quality of a source that is passed on, which is not known.
    public static func ofSource(fits: Bool = true) -> ResultQuality {
        var quality = ResultQuality(value: nil, fits: fits)
        quality.isSource = true
        return quality
    }

    /// The value of `X-Quality`, a structured field (RFC 9651): `72`, `lossless`, `source`, or `20;fits=?0`.
    public var description: String {
        (isSource ? "source" : value.map(String.init) ?? "lossless") + (fits ? "" : ";fits=?0")
    }

    /// Quality and fit in one byte, by which both are stored and sent: 0 = lossless, 126 = the source's encoding, 128
    /// more if the result does not fit.
    package var code: UInt8 { (isSource ? Self.sourceCode : UInt8(value ?? 0)) + (fits ? 0 : 128) }

    /// Nil if the byte is not a valid code.
    package init?(code: UInt8) {
        let (quality, fits) = (code & 127, code < 128)
        guard quality <= 100 || quality == Self.sourceCode else { return nil }
        self =
            quality == Self.sourceCode
            ? .ofSource(fits: fits) : ResultQuality(value: quality == 0 ? nil : Int(quality), fits: fits)
    }

    private static let sourceCode: UInt8 = 126
}

extension ResultQuality: Codable {
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let quality = ResultQuality(code: try container.decode(UInt8.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no such quality")
        }
        self = quality
    }

    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }
}

extension OutputOptions {
    /// Whether the result of such a source may have several frames.
    func holdsSeveralFrames(of source: SourceFormat) -> Bool {
        if let format, format.writesFrames { return true }
        guard source.isAnimation else { return false }
        if details.contains(.wsrv) { return true }
        // Animated PNG is read only.
        return isOpen && (alternative == .webp || natural(for: source, hasAlpha: true, moves: true).supportsAnimation)
    }

    /// The format of the result, as far as time permits.
    ///
    /// - Parameter frames: the frames of the source that are used.
    func resultFormat(of source: SourceFormat, frames: Int, hasAlpha: Bool) -> OutputFormat {
        formats(of: source, frames: frames, hasAlpha: hasAlpha).first ?? natural(for: source, hasAlpha: hasAlpha)
    }

    /// The formats that the result may have, the preferred one first: the cheaper ones are for an image that would take
    /// too long. They hold the alpha channel, the frames and, if it was asked for, every pixel value.
    ///
    /// - Parameter animatesJXL: whether this machine writes animated JPEG XL.
    func formats(
        of source: SourceFormat, frames: Int, hasAlpha: Bool, animatesJXL: Bool = OutputFormat.jxl.writesFrames
    ) -> [OutputFormat] {
        let moves = frames > 1 && source.isAnimation
        if let format, !isOpen { return [format] }
        let natural = natural(for: source, hasAlpha: hasAlpha, moves: moves)
        let plain = plain(isExact: hasAlpha || lossless)
        let all: [OutputFormat] = [format, alternative == .webp ? .webp : nil, natural, plain].compactMap(\.self)
        return all.enumerated().filter { place, format in
            let holdsFrames = format == .jxl ? animatesJXL && mayAnimateJXL : format.supportsAnimation
            return all.firstIndex(of: format) == place && (!moves || holdsFrames)
        }.map(\.element)
    }

    /// Whether an animation may become JPEG XL where the server chooses the format: only if it is smaller than a WebP
    /// of the same quality.
    private var mayAnimateJXL: Bool { alternative == .webp && !lossless && maxBytes == nil }

    /// The source's own format if browsers and the client show it and this machine can encode it; otherwise WebP or GIF
    /// for an animation, PNG with alpha and JPEG without. AVIF is never cheaper than a format that the request prefers.
    ///
    /// - Parameter moves: whether the result is an animation.
    package func natural(for source: SourceFormat, hasAlpha: Bool = false, moves: Bool = false) -> OutputFormat {
        let own = source.row.output.flatMap { $0.isAvailable && ($0 != .avif || format == nil) ? $0 : nil }
        let candidates: [OutputFormat?] = moves ? [own, .webp, .gif] : [own]
        return candidates.compactMap(\.self).first { !excluded.contains($0) } ?? plain(isExact: hasAlpha)
    }

    /// A format that keeps the pixels as they are, or JPEG; another format if the client shows only that.
    private func plain(isExact: Bool) -> OutputFormat {
        let candidates: [OutputFormat] = isExact ? [.png, .webp, .gif, .jpeg] : [.jpeg, .png, .webp, .gif]
        return candidates.first { !excluded.contains($0) } ?? candidates[0]
    }
}
