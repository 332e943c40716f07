/// The quality that an encoder was given, where the image decided it: for `q=auto` and `max_bytes`.
public struct ResultQuality: Hashable, Sendable, CustomStringConvertible {
    /// 1…100; nil = the encoding is lossless.
    public let value: Int?
    /// Whether the result has at most the bytes that were asked for.
    public let fits: Bool

    /// A quality outside of 1…100 becomes the nearest one.
    public init(value: Int?, fits: Bool = true) {
        self.value = value.map { min(max($0, 1), 100) }
        self.fits = fits
    }

    /// The value of `X-Quality`, a structured field (RFC 9651): `72`, `lossless`, or `20;fits=?0`.
    public var description: String { (value.map(String.init) ?? "lossless") + (fits ? "" : ";fits=?0") }

    /// Quality and fit in one byte, by which both are stored and sent: 0 = lossless, 128 more if it does not fit.
    package var code: UInt8 { UInt8(value ?? 0) + (fits ? 0 : 128) }

    /// Nil if the byte is no such code.
    package init?(code: UInt8) {
        guard code & 127 <= 100 else { return nil }
        self.init(value: code & 127 == 0 ? nil : Int(code & 127), fits: code < 128)
    }
}

/// How close to the unencoded image a lossy result with `q=auto` has to look.
public enum QualityTarget: String, Codable, Sendable, CaseIterable {
    case high, medium, low
}
