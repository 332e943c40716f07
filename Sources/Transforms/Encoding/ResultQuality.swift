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
