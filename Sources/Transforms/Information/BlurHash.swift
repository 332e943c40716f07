import DarkroomRequests
import Foundation

/// BlurHash (woltapp/blurhash, Algorithm.md) of 4 by 3 components: the lowest frequencies of an image in linear light,
/// as 28 characters.
enum BlurHash {
    private static let columns = 4
    private static let rows = 3

    /// Encodes an image on a white background.
    static func encode(_ image: Thumbnail) -> String {
        let linear = SRGBCurve.lightOfBytes
        let pixels = image.overWhite.map { [linear[Int($0.red)], linear[Int($0.green)], linear[Int($0.blue)]] }
        let waves = (0..<rows).flatMap { row in
            (0..<columns).map { wave($0, row, of: pixels, width: image.width, height: image.height) }
        }
        let varying = waves.dropFirst()
        let strongest = varying.joined().map(abs).max() ?? 0
        let scale = min(max(Int((strongest * 166 - 0.5).rounded(.down)), 0), 82)
        let size = (columns - 1) + (rows - 1) * 9
        return digits(size, count: 1) + digits(scale, count: 1) + digits(mean(waves[0]), count: 4)
            + varying.map { digits(quantized($0, strongest: Double(scale + 1) / 166), count: 2) }.joined()
    }

    /// The amplitude of one pair of frequencies, for red, green and blue.
    private static func wave(_ column: Int, _ row: Int, of pixels: [[Double]], width: Int, height: Int) -> [Double] {
        let (across, down) = (cosine(column, over: width), cosine(row, over: height))
        var sum = [0.0, 0.0, 0.0]
        for (index, pixel) in pixels.enumerated() {
            let weight = across[index % width] * down[index / width]
            for channel in 0..<3 { sum[channel] += weight * pixel[channel] }
        }
        let norm = (column == 0 && row == 0 ? 1.0 : 2.0) / Double(width * height)
        return sum.map { $0 * norm }
    }

    /// The mean of a cosine over each pixel of a side.
    ///
    /// The reference encoder takes the value at the beginning of each pixel, so that on a side of few pixels one color
    /// becomes a gradient. With means, an image has the hash that the reference gives to the same image enlarged.
    private static func cosine(_ frequency: Int, over side: Int) -> [Double] {
        guard frequency > 0 else { return Array(repeating: 1, count: side) }
        let angle = Double.pi * Double(frequency) / Double(side)
        return (0..<side).map { (sin(angle * Double($0 + 1)) - sin(angle * Double($0))) / angle }
    }

    private static func mean(_ color: [Double]) -> Int {
        color.reduce(0) { $0 << 8 | Int(SRGBCurve.byte($1)) }
    }

    /// Each channel in 19 steps, finer around zero.
    private static func quantized(_ color: [Double], strongest: Double) -> Int {
        color.reduce(0) { number, value in
            let part = value / strongest
            let root = part < 0 ? -(-part).squareRoot() : part.squareRoot()
            return number * 19 + min(max(Int((root * 9 + 9.5).rounded(.down)), 0), 18)
        }
    }

    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")

    private static func digits(_ number: Int, count: Int) -> String {
        var rest = number
        var text: [Character] = []
        for _ in 0..<count {
            text.append(alphabet[rest % 83])
            rest /= 83
        }
        return String(text.reversed())
    }
}
