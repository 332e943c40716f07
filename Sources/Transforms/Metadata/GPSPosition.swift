import NIOCore

/// The position where an image was taken, from its EXIF data (EXIF 3.0 §4.6.7).
struct GPSPosition: Encodable, Hashable {
    /// Decimal degrees, north positive, -90…90.
    let latitude: Double
    /// Decimal degrees, east positive, -180…180.
    let longitude: Double
    /// Meters above sea level.
    let altitude: Double?

    /// Nil if the position is missing or impossible. An impossible altitude is left out.
    init?(exif: ByteBuffer) {
        guard let gps = EXIFDirectory(exif)?.directory(0x8825),
            let latitude = Self.degrees(gps, 2, limit: 90, sign: Self.sign(gps.letter(1), "N", "S")),
            let longitude = Self.degrees(gps, 4, limit: 180, sign: Self.sign(gps.letter(3), "E", "W"))
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        altitude = Self.altitude(gps)
    }

    private static func sign(_ letter: Character?, _ positive: Character, _ negative: Character) -> Double? {
        letter == positive ? 1 : letter == negative ? -1 : nil
    }

    /// Decimal degrees from degrees, minutes and seconds, with seven decimals (a centimeter).
    private static func degrees(_ gps: EXIFDirectory, _ tag: UInt16, limit: Double, sign: Double?) -> Double? {
        guard let sign, let parts = gps.fractions(tag, count: 3), parts[1] < 60, parts[2] < 60 else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        return degrees <= limit ? rounded(sign * degrees, 1e7) : nil
    }

    private static func altitude(_ gps: EXIFDirectory) -> Double? {
        // No camera is higher.
        guard let meters = gps.fractions(6, count: 1)?.first, meters <= 1e6 else { return nil }
        switch gps.byte(5) {
        case 0, nil: return rounded(meters, 1e2)
        case 1: return rounded(-meters, 1e2)
        default: return nil
        }
    }

    /// The number rounded to a fraction of 1 / `steps`, never negative zero.
    private static func rounded(_ number: Double, _ steps: Double) -> Double { (number * steps).rounded() / steps + 0 }
}
