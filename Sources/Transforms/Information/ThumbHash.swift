import DarkroomRequests
import Foundation

/// ThumbHash (evanw/thumbhash): the lowest frequencies of lightness, two color differences and alpha, and the aspect
/// ratio, in about 25 bytes.
enum ThumbHash {
    /// The hash in base64, its usual form.
    static func encode(_ image: Thumbnail) -> String {
        Data(bytes(of: image)).base64EncodedString()
    }

    static func bytes(of image: Thumbnail) -> [UInt8] {
        let planes = Planes(image)
        let (width, height) = (image.width, image.height)
        let longest = planes.isTranslucent ? 5 : 7
        let across = terms(longest, side: width, of: max(width, height))
        let down = terms(longest, side: height, of: max(width, height))
        let lightness = Spectrum(planes.lightness, width, height, max(3, across), max(3, down))
        let yellowBlue = Spectrum(planes.yellowBlue, width, height, 3, 3)
        let redGreen = Spectrum(planes.redGreen, width, height, 3, 3)
        let alpha = planes.isTranslucent ? Spectrum(planes.alpha, width, height, 5, 5) : nil

        var head = Bits()
        head.append(lightness.mean * 63, count: 6)
        head.append(31.5 + 31.5 * yellowBlue.mean, count: 6)
        head.append(31.5 + 31.5 * redGreen.mean, count: 6)
        head.append(lightness.scale * 31, count: 5)
        head.append(planes.isTranslucent ? 1 : 0, count: 1)
        head.append(Double(width > height ? down : across), count: 3)
        head.append(yellowBlue.scale * 63, count: 6)
        head.append(redGreen.scale * 63, count: 6)
        head.append(width > height ? 1 : 0, count: 1)
        if let alpha {
            head.append(alpha.mean * 15, count: 4)
            head.append(alpha.scale * 15, count: 4)
        }
        for spectrum in [lightness, yellowBlue, redGreen] + (alpha.map { [$0] } ?? []) {
            for wave in spectrum.waves { head.append(wave * 15, count: 4) }
        }
        return head.bytes
    }

    /// The number of frequencies on a side, fewer on the shorter side.
    private static func terms(_ longest: Int, side: Int, of longer: Int) -> Int {
        max(1, Int((Double(longest * side) / Double(longer)).rounded()))
    }
}

/// An image in separate channels, on a background of its own mean color; values about 0…1.
private struct Planes {
    var lightness: [Double] = []
    var yellowBlue: [Double] = []
    var redGreen: [Double] = []
    var alpha: [Double] = []
    var isTranslucent = false

    init(_ image: Thumbnail) {
        let colors = image.pixels.map { [Double($0.red) / 255, Double($0.green) / 255, Double($0.blue) / 255] }
        alpha = image.pixels.map { Double($0.alpha) / 255 }
        let weight = alpha.reduce(0, +)
        var mean = [0.0, 0.0, 0.0]
        if weight > 0 {
            for (color, alpha) in zip(colors, alpha) {
                for channel in 0..<3 { mean[channel] += color[channel] * alpha / weight }
            }
        }
        isTranslucent = image.pixels.contains { $0.alpha < 255 }
        for (color, alpha) in zip(colors, alpha) {
            let seen = (0..<3).map { mean[$0] * (1 - alpha) + color[$0] * alpha }
            lightness.append((seen[0] + seen[1] + seen[2]) / 3)
            yellowBlue.append((seen[0] + seen[1]) / 2 - seen[2])
            redGreen.append(seen[0] - seen[1])
        }
    }
}

/// A channel's cosine transform: its mean, and its lowest frequencies relative to the strongest frequency, 0…1 with 0.5
/// for none.
private struct Spectrum {
    let mean: Double
    let scale: Double
    let waves: [Double]

    init(_ plane: [Double], _ width: Int, _ height: Int, _ columns: Int, _ rows: Int) {
        var found: [Double] = []
        for row in 0..<rows {
            let down = Self.cosine(row, over: height)
            for column in 0..<columns where column * rows < columns * (rows - row) {
                let across = Self.cosine(column, over: width)
                var sum = 0.0
                for (index, value) in plane.enumerated() { sum += value * across[index % width] * down[index / width] }
                found.append(sum / Double(width * height))
            }
        }
        mean = found.first ?? 0
        let varying = found.dropFirst()
        let strongest = varying.map(abs).max() ?? 0
        // Amplitudes below rounding errors would be noise at full scale.
        let isFlat = strongest < 1e-9
        scale = isFlat ? 0 : strongest
        waves = varying.map { isFlat ? 0 : 0.5 + 0.5 / strongest * $0 }
    }

    /// The values of a cosine at the middle of each pixel of a side.
    private static func cosine(_ frequency: Int, over side: Int) -> [Double] {
        // Whole waves within each pixel would count the mean a second time.
        guard frequency == 0 || !frequency.isMultiple(of: 2 * side) else { return Array(repeating: 0, count: side) }
        return (0..<side).map { cos(.pi / Double(side) * Double(frequency) * (Double($0) + 0.5)) }
    }
}

/// A writer for numbers of a few bits each, least significant bit first.
private struct Bits {
    private(set) var bytes: [UInt8] = []
    private var used = 0

    /// - Parameter number: rounded, and clipped to the range of `count` bits.
    mutating func append(_ number: Double, count: Int) {
        let value = min(max(Int(number.rounded()), 0), 1 << count - 1)
        for bit in 0..<count {
            if used % 8 == 0 { bytes.append(0) }
            bytes[used / 8] |= UInt8(value >> bit & 1) << (used % 8)
            used += 1
        }
    }
}
