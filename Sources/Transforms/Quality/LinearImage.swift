import DarkroomVips
import Foundation
import NIOCore

/// An image in linear light, channel by channel, in which similarity is judged.
struct LinearImage {
    let width: Int
    let height: Int
    /// Red, green and blue, row by row, 0…1.
    let channels: [[Float]]

    private init(width: Int, height: Int, channels: [[Float]]) {
        self.width = width
        self.height = height
        self.channels = channels
    }

    /// - Parameters:
    ///   - image: 8-bit sRGB with three bands.
    ///   - factor: how many times smaller each side becomes, by means of samples; a rest of rows and columns is left
    ///     out.
    init(_ image: VipsImage, reducedBy factor: Int) throws(VipsError) {
        let samples = try image.samples()
        let (columns, rows, stride) = (image.width / factor, image.height / factor, image.width * 3)
        (width, height) = (columns, rows)
        channels = samples.withUnsafeReadableBytes { bytes in
            (0..<3).map { channel in
                Self.plane(columns * rows) { index in
                    let first = index / columns * factor * stride + index % columns * factor * 3 + channel
                    var sum = 0
                    for row in 0..<factor {
                        for column in 0..<factor { sum += Int(bytes[first + row * stride + column * 3]) }
                    }
                    return Self.light[(sum + factor * factor / 2) / (factor * factor)]
                }
            }
        }
    }

    /// The image at half the size; an odd last row or column is left out.
    var halved: LinearImage {
        let (columns, rows, stride) = (width / 2, height / 2, width)
        let halves = channels.map { channel in
            channel.withUnsafeBufferPointer { channel in
                Self.plane(columns * rows) { index in
                    let start = index / columns * 2 * stride + index % columns * 2
                    return
                        (channel[start] + channel[start + 1] + channel[start + stride] + channel[start + stride + 1])
                        / 4
                }
            }
        }
        return LinearImage(width: columns, height: rows, channels: halves)
    }

    /// The channels X, Y and B of the color space XYB of JPEG XL and SSIMULACRA2, moved to positive numbers: a
    /// difference of red and green, lightness, and a difference of blue and lightness.
    var opponentPlanes: [[Float]] {
        let (reds, greens, blues) = (channels[0], channels[1], channels[2])
        var (x, y, b) = (reds, greens, blues)
        Self.cubeRoots.withUnsafeBufferPointer { table in
            for index in reds.indices {
                let (red, green, blue) = (reds[index], greens[index], blues[index])
                let long = Self.cubeRoot(0.3 * red + 0.622 * green + 0.078 * blue, table)
                let middle = Self.cubeRoot(0.23 * red + 0.692 * green + 0.078 * blue, table)
                let short = Self.cubeRoot(0.243_422_69 * red + 0.204_767_44 * green + 0.551_809_87 * blue, table)
                let lightness = (long + middle) / 2
                x[index] = (long - middle) * 7 + 0.42
                y[index] = lightness + 0.01
                b[index] = short - lightness + 0.55
            }
        }
        return [x, y, b]
    }

    private static func plane(_ count: Int, _ value: (Int) -> Float) -> [Float] {
        [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count { buffer.initializeElement(at: index, to: value(index)) }
            initialized = count
        }
    }

    /// The linear light of each sRGB sample (IEC 61966-2-1).
    private static let light: [Float] = (0..<256).map { sample in
        let value = Double(sample) / 255
        return Float(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
    }

    /// The response of a receptor to light of 0…1, interpolated in a table.
    private static func cubeRoot(_ light: Float, _ table: UnsafeBufferPointer<Float>) -> Float {
        let position = min(max(light, 0), 1) * Float(tableSteps)
        let index = min(Int(position), tableSteps - 1)
        return table[index] + (table[index + 1] - table[index]) * (position - Float(index))
    }

    private static let tableSteps = 4096
    /// Of the opsin absorbance of JPEG XL.
    private static let bias = 0.003_793_073_255_275_449_3
    private static let cubeRoots: [Float] = (0...tableSteps).map { step in
        Float(cbrt(Double(step) / Double(tableSteps) + bias) - cbrt(bias))
    }
}
