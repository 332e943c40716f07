import Foundation
import NIOCore

/// How a gain map brightens its image: the fields of `hdrgm` in XMP (Ultra HDR 1.1), which ISO 21496-1 has too. All
/// numbers but gamma and offsets are binary logarithms, with six decimals.
struct GainMapMetadata: Hashable, Sendable {
    /// The gain of a sample of 0; one number, or one for each channel.
    var least: [Double]
    /// The gain of a sample of 255.
    var most: [Double]
    var gamma: [Double]
    var baseOffset: [Double]
    var alternateOffset: [Double]
    /// The headroom of a display up to which the image is shown without the map.
    var leastHeadroom: Double
    /// The headroom from which the map has its whole effect.
    var mostHeadroom: Double

    /// The metadata in the segments of a gain map's own file; nil if there is none, or if the map makes an HDR image
    /// darker.
    init?(of file: ByteBuffer) {
        let packet = JPEGContainer.segment(JPEGContainer.Marker.exif, JPEGContainer.xmpName, of: file)
        var fields = JPEGContainer.segment(JPEGContainer.Marker.profile, Self.isoName, of: file) ?? ByteBuffer()
        // Chromium prefers the fractions too.
        guard
            let found = GainMapMetadata(iso: &fields) ?? packet.flatMap({ GainMapMetadata(xmp: $0.readableBytesView) })
        else { return nil }
        self = found
    }

    /// One gain for all channels, from 1 on, of an image without offsets.
    init?(most: Double) {
        self.init(
            least: [0], most: [most], gamma: [1], offsets: (base: [0], alternate: [0]),
            headroom: (least: 0, most: most))
    }

    private init?(
        least: [Double], most: [Double], gamma: [Double], offsets: (base: [Double], alternate: [Double]),
        headroom: (least: Double, most: Double)
    ) {
        func rounded(_ number: Double) -> Double { (number * Self.denominator).rounded() / Self.denominator }
        (self.least, self.most, self.gamma) = (least.map(rounded), most.map(rounded), gamma.map(rounded))
        (baseOffset, alternateOffset) = (offsets.base.map(rounded), offsets.alternate.map(rounded))
        (leastHeadroom, mostHeadroom) = (rounded(headroom.least), rounded(headroom.most))
        let lists = [least, most, gamma, baseOffset, alternateOffset]
        let isInRange = (lists.joined() + [leastHeadroom, mostHeadroom]).allSatisfy { abs($0) <= Self.largest }
        guard isInRange, lists.allSatisfy({ $0.count == 1 || $0.count == 3 }),
            self.gamma.allSatisfy({ $0 > 0 }), mostHeadroom > leastHeadroom, leastHeadroom >= 0
        else { return nil }
    }

    /// No number of a gain map is greater, and a comparison with NaN is false.
    private static let largest = 64.0
    private static let denominator = 1e6

    // MARK: XMP

    private static let namespace = "http://ns.adobe.com/hdr-gain-map/1.0/"

    init?(xmp packet: some Collection<UInt8>) {
        guard packet.count <= Self.maxPacketBytes else { return nil }
        let texts = XMLTokenizer.properties(of: Self.namespace, in: Array(packet))
        func numbers(_ name: String, default standard: Double? = nil) -> [Double]? {
            guard let found = texts[name] else { return standard.map { [$0] } }
            let numbers = found.compactMap(Double.init)
            return numbers.count == found.count ? numbers : nil
        }
        guard texts["Version"] == ["1.0"], texts["BaseRenditionIsHDR"]?.first?.lowercased() != "true",
            let least = numbers("GainMapMin", default: 0), let most = numbers("GainMapMax"),
            let gamma = numbers("Gamma", default: 1), let base = numbers("OffsetSDR", default: 1 / 64),
            let alternate = numbers("OffsetHDR", default: 1 / 64),
            let first = numbers("HDRCapacityMin", default: 0)?.first, let last = numbers("HDRCapacityMax")?.first
        else { return nil }
        self.init(least: least, most: most, gamma: gamma, offsets: (base, alternate), headroom: (first, last))
    }

    /// A segment has no more.
    private static let maxPacketBytes = 65_536

    /// The packet of a gain map's file.
    var packet: ByteBuffer {
        let lists = [
            ("GainMapMin", least), ("GainMapMax", most), ("Gamma", gamma), ("OffsetSDR", baseOffset),
            ("OffsetHDR", alternateOffset), ("HDRCapacityMin", [leastHeadroom]), ("HDRCapacityMax", [mostHeadroom]),
        ]
        let attributes = lists.filter { $0.1.count == 1 }.map { " hdrgm:\($0)=\"\(Self.text($1[0]))\"" }.joined()
        let elements = lists.filter { $0.1.count > 1 }.map { name, numbers in
            let items = numbers.map { "<rdf:li>\(Self.text($0))</rdf:li>" }.joined()
            return "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
        }.joined()
        return XMPPacket.make(
            [:],
            and: "<rdf:Description rdf:about=\"\" xmlns:hdrgm=\"\(Self.namespace)\" hdrgm:Version=\"1.0\""
                + "\(attributes) hdrgm:BaseRenditionIsHDR=\"False\">\(elements)</rdf:Description>")
    }

    /// The description that the image's own file has, in a packet that may describe more.
    ///
    /// - Parameter bytes: the length of the gain map's file, which follows the image.
    static func directory(mapBytes bytes: Int) -> String {
        let items = [#"Item:Semantic="Primary""#, #"Item:Semantic="GainMap" Item:Length="\#(bytes)""#].map {
            #"<rdf:li rdf:parseType="Resource"><Container:Item \#($0) Item:Mime="image/jpeg"/></rdf:li>"#
        }.joined()
        return "<rdf:Description rdf:about=\"\" xmlns:hdrgm=\"\(namespace)\""
            + " xmlns:Container=\"http://ns.google.com/photos/1.0/container/\""
            + " xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\" hdrgm:Version=\"1.0\">"
            + "<Container:Directory><rdf:Seq>\(items)</rdf:Seq></Container:Directory></rdf:Description>"
    }

    /// Six decimals at most, and no exponent.
    private static func text(_ number: Double) -> String {
        let text = String(format: "%.6f", number)
        let digits = text.reversed().drop { $0 == "0" }.drop { $0 == "." }
        return digits.isEmpty ? "0" : String(digits.reversed())
    }

    // MARK: ISO 21496-1

    /// What a segment with the metadata, or only their version, begins with.
    static let isoName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    /// Fractions of 32 bits (ISO 21496-1, annex C.2), which may share their denominator.
    init?(iso fields: inout ByteBuffer) {
        guard fields.readInteger(as: UInt16.self) == 0, fields.readInteger(as: UInt16.self) != nil,
            let flags = fields.readInteger(as: UInt8.self)
        else { return nil }
        let channels = flags & Flag.severalChannels != 0 ? 3 : 1
        var shared: UInt32?
        if flags & Flag.sharedDenominator != 0 {
            shared = fields.readInteger()
            if shared == nil { return nil }
        }
        func fraction(isSigned: Bool = true) -> Double? {
            guard let numerator = fields.readInteger(as: UInt32.self),
                let denominator = shared ?? fields.readInteger(as: UInt32.self), denominator > 0
            else { return nil }
            return (isSigned ? Double(Int32(bitPattern: numerator)) : Double(numerator)) / Double(denominator)
        }
        let headrooms = [fraction(isSigned: false), fraction(isSigned: false)].compactMap(\.self)
        let numbers = (0..<5 * channels).compactMap { fraction(isSigned: $0 % 5 != 2) }
        guard headrooms.count == 2, numbers.count == 5 * channels else { return nil }
        func list(_ place: Int) -> [Double] { (0..<channels).map { numbers[5 * $0 + place] } }
        self.init(
            least: list(0), most: list(1), gamma: list(2), offsets: (list(3), list(4)),
            headroom: (headrooms[0], headrooms[1]))
    }

    /// The version of the metadata, which is all that the image's own file has.
    static let isoVersion = ByteBuffer(bytes: [0, 0, 0, 0])

    /// The fields of a gain map's file, whose gains are of the primaries of the image.
    var isoFields: ByteBuffer {
        let lists = [least, most, gamma, baseOffset, alternateOffset]
        let channels = lists.map(\.count).max() ?? 1
        var fields = Self.isoVersion
        fields.writeInteger(Flag.baseColors | (channels > 1 ? Flag.severalChannels : 0))
        func write(_ number: Double) {
            fields.writeInteger(Int32((number * Self.denominator).rounded()))
            fields.writeInteger(UInt32(Self.denominator))
        }
        write(leastHeadroom)
        write(mostHeadroom)
        for channel in 0..<channels {
            for list in lists { write(list.count > 1 ? list[channel] : list[0]) }
        }
        return fields
    }

    private enum Flag {
        static let severalChannels: UInt8 = 0x80
        static let baseColors: UInt8 = 0x40
        static let sharedDenominator: UInt8 = 0x08
    }
}
