import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Valid and malformed positions.
struct GPSPositionTests {
    /// EXIF data with a GPS directory.
    struct Sample: Sendable {
        var order = Endianness.little
        var head = "Exif\0\0"
        var latitude: [(UInt32, UInt32)] = [(46, 1), (30, 1), (0, 1)]
        var latitudeLetter: Character? = "N"
        var longitude: [(UInt32, UInt32)] = [(8, 1), (15, 1), (0, 1)]
        var longitudeLetter: Character? = "E"
        var altitude: (UInt32, UInt32)?
        var below: UInt8?

        var position: GPSPosition? { GPSPosition(exif: bytes) }

        var bytes: ByteBuffer {
            var directory = ByteBuffer()
            var values = ByteBuffer()
            var count: UInt16 = 0
            // The header, one directory of one entry, and a second one of up to six, with the values behind them.
            let start: UInt32 = 26
            let valuesStart: UInt32 = 104
            func entry(_ tag: UInt16, type: UInt16, count size: Int, _ value: [UInt8]) {
                directory.writeInteger(tag, endianness: order)
                directory.writeInteger(type, endianness: order)
                directory.writeInteger(UInt32(size), endianness: order)
                directory.writeBytes(value + Array(repeating: 0, count: 4 - value.count))
                count += 1
            }
            func fractions(_ tag: UInt16, _ fractions: [(UInt32, UInt32)]) {
                var place = ByteBuffer()
                place.writeInteger(valuesStart + UInt32(values.readableBytes), endianness: order)
                entry(tag, type: 5, count: fractions.count, Array(place.readableBytesView))
                for (above, below) in fractions { values.writeMultipleIntegers(above, below, endianness: order) }
            }
            if let letter = latitudeLetter?.asciiValue { entry(1, type: 2, count: 2, [letter]) }
            fractions(2, latitude)
            if let letter = longitudeLetter?.asciiValue { entry(3, type: 2, count: 2, [letter]) }
            fractions(4, longitude)
            if let below { entry(5, type: 1, count: 1, [below]) }
            if let altitude { fractions(6, [altitude]) }

            var bytes = ByteBuffer(string: order == .little ? "II" : "MM")
            bytes.writeMultipleIntegers(UInt16(42), UInt32(8), UInt16(1), endianness: order)
            bytes.writeMultipleIntegers(UInt16(0x8825), UInt16(4), UInt32(1), start, UInt32(0), endianness: order)
            bytes.writeInteger(count, endianness: order)
            bytes.writeImmutableBuffer(directory)
            bytes.writeRepeatingByte(0, count: 6 * 12 + 4 - directory.readableBytes)
            bytes.writeImmutableBuffer(values)
            return ByteBuffer(string: head).appending(bytes)
        }

        static func with(_ change: (inout Sample) -> Void) -> Sample {
            var sample = Sample()
            change(&sample)
            return sample
        }
    }

    @Test(
        arguments: [
            (Sample(), 46.5, 8.25, nil), (.with { $0.order = .big }, 46.5, 8.25, nil),
            (.with { $0.head = "" }, 46.5, 8.25, nil),
            (.with { ($0.latitudeLetter, $0.longitudeLetter) = ("S", "W") }, -46.5, -8.25, nil),
            (.with { $0.latitude = [(33, 1), (51, 1), (3051, 125)] }, 33.8567800, 8.25, nil),
            (.with { $0.latitude = [(465, 10), (0, 1), (0, 9)] }, 46.5, 8.25, nil),
            (
                .with { ($0.latitude, $0.longitude) = ([(90, 1), (0, 1), (0, 1)], [(180, 1), (0, 1), (0, 1)]) }, 90,
                180, nil
            ),
            (.with { $0.altitude = (2469, 20) }, 46.5, 8.25, 123.45),
            (.with { ($0.altitude, $0.below) = ((2469, 20), 0) }, 46.5, 8.25, 123.45),
            (.with { ($0.altitude, $0.below) = ((430, 1), 1) }, 46.5, 8.25, -430),
            (.with { ($0.altitude, $0.below) = ((430, 1), 7) }, 46.5, 8.25, nil),
            (.with { $0.altitude = (1, 0) }, 46.5, 8.25, nil),
            (.with { $0.altitude = (4_000_000_000, 1) }, 46.5, 8.25, nil),
        ] as [(Sample, Double, Double, Double?)])
    func `A position is in decimal degrees`(
        sample: Sample, latitude: Double, longitude: Double, altitude: Double?
    ) throws {
        let position = try #require(sample.position)
        #expect(abs(position.latitude - latitude) < 1e-9)
        #expect(position.longitude == longitude)
        #expect(position.altitude == altitude)
    }

    @Test(arguments: [
        Sample.with { $0.latitude[0] = (91, 1) }, .with { $0.latitude = [(90, 1), (0, 1), (1, 1)] },
        .with { $0.longitude = [(180, 1), (1, 1), (0, 1)] }, .with { $0.latitude[1] = (60, 1) },
        .with { $0.longitude[2] = (60, 1) }, .with { $0.latitude[0] = (46, 0) }, .with { $0.latitude[2] = (0, 0) },
        .with { $0.longitude[1] = (4_294_967_295, 0) }, .with { $0.latitude[0] = (4_294_967_295, 1) },
        .with { $0.latitudeLetter = nil }, .with { $0.latitudeLetter = "E" }, .with { $0.longitudeLetter = "n" },
        .with { $0.longitudeLetter = "\0" }, .with { $0.latitude.removeLast() }, .with { $0.longitude.append((1, 1)) },
        .with { $0.longitude = [] }, .with { $0.head = "Exif" },
    ])
    func `An impossible position is left out`(sample: Sample) {
        #expect(sample.position == nil)
    }

    @Test func `Nothing but zeros is the point where equator and meridian meet, without a minus`() throws {
        let none: [(UInt32, UInt32)] = [(0, 1), (0, 1), (0, 1)]
        let sample = Sample.with {
            ($0.latitude, $0.longitude) = (none, none)
            ($0.latitudeLetter, $0.longitudeLetter) = ("S", "W")
        }
        let json = String(decoding: try JSONEncoder().encode(try #require(sample.position)), as: UTF8.self)
        #expect(json.contains(#""latitude":0"#) && json.contains(#""longitude":0"#))
    }

    @Test func `Truncated and mutated bytes are read safely`() {
        let whole = Sample.with { $0.altitude = (1, 1) }.bytes
        for length in 0..<whole.readableBytes {
            var cut = whole
            _ = GPSPosition(exif: cut.readSlice(length: length) ?? ByteBuffer())
        }
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            var changed = whole
            for _ in 0..<4 {
                let index = Int.random(in: 6..<whole.readableBytes, using: &numbers)
                changed.setInteger(UInt8.random(in: 0...255, using: &numbers), at: index)
            }
            guard let position = GPSPosition(exif: changed) else { continue }
            #expect(abs(position.latitude) <= 90 && abs(position.longitude) <= 180)
        }
    }

    @Test func `A directory that points at itself is read once`() {
        var bytes = ByteBuffer(string: "II")
        bytes.writeMultipleIntegers(UInt16(42), UInt32(8), UInt16(1), endianness: .little)
        bytes.writeMultipleIntegers(UInt16(0x8825), UInt16(4), UInt32(1), UInt32(8), UInt32(0), endianness: .little)
        #expect(GPSPosition(exif: bytes) == nil)
    }
}

extension ByteBuffer {
    fileprivate func appending(_ rest: ByteBuffer) -> ByteBuffer {
        var whole = self
        whole.writeImmutableBuffer(rest)
        return whole
    }
}
