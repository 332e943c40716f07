import NIOCore

/// The code points of an image's colors (ITU-T H.273), as a `colr` box of type `nclx` states them.
struct HEIFColor: Hashable, Sendable {
    let primaries, transfer, matrix: UInt16
    let isFullRange: Bool
    /// The brightest light of the image, as a `clli` box states it; 0 = not stated.
    var peakNits: UInt16 = 0
}

/// The items of a HEIF or AVIF file, with their properties and references (ISO/IEC 14496-12 §8.11, 23008-12 §6 and §9).
///
/// Lists have at most ``maxEntries`` entries. Counts and sizes are compared with the bytes that follow before memory is
/// allocated for them.
struct HEIFContainer: Sendable {
    let file: ByteBuffer
    /// The box that describes the items.
    let meta: ISOBox
    /// The boxes in ``meta``.
    let children: [ISOBox]
    /// The item that is shown.
    let primary: UInt32
    /// The item types, such as `av01` and `grid`.
    let types: [UInt32: String]
    let references: [Reference]
    /// The properties of all items. An association counts them from 1.
    let properties: [ISOBox]
    let associations: [UInt32: [Association]]
    /// The properties that make an item an alpha channel, counted from 1.
    private let alphaProperties: Set<Int>

    /// A reference of an item to others, such as `auxl` from an alpha channel to its image.
    struct Reference: Hashable {
        let type: String
        let from: UInt32
        var to: [UInt32]
    }

    /// The use of a property by an item.
    struct Association: Hashable {
        let property: Int
        let isEssential: Bool
    }

    static let maxEntries = 16_384
    /// The most targets of all references.
    private static let maxTargets = 262_144
    /// The most properties that an item has.
    static let maxUses = Int(UInt8.max)

    /// Returns nil for a file that does not describe its items as the standard requires.
    init?(of file: ByteBuffer) {
        guard let meta = Self.meta(of: file) else { return nil }
        var content = meta.content
        guard content.readISOVersion() != nil, let children = content.readISOBoxes(atMost: Self.maxEntries) else {
            return nil
        }
        func child(_ type: String) -> ISOBox? { children.first { $0.type == type } }
        var itemProperties = child("iprp")?.content
        guard let primary = child("pitm").flatMap(Self.primary), let types = child("iinf").flatMap(Self.types),
            let references = child("iref").map(Self.references) ?? [],
            let boxes = itemProperties?.readISOBoxes(atMost: Self.maxEntries),
            var list = boxes.first(where: { $0.type == "ipco" })?.content,
            let properties = list.readISOBoxes(atMost: Self.maxEntries)
        else { return nil }
        var associations: [UInt32: [Association]] = [:]
        for box in boxes where box.type == "ipma" {
            guard Self.readAssociations(box, into: &associations) else { return nil }
        }
        (self.file, self.meta, self.children) = (file, meta, children)
        (self.primary, self.types, self.references) = (primary, types, references)
        (self.properties, self.associations) = (properties, associations)
        alphaProperties = Set(properties.indices.filter { Self.statesAlpha(properties[$0]) }.map { $0 + 1 })
    }

    private static func meta(of file: ByteBuffer) -> ISOBox? {
        var rest = file
        for _ in 0..<maxEntries {
            guard let box = ISOBox(from: &rest) else { return nil }
            if box.type == "meta" { return box }
        }
        return nil
    }

    private static func primary(_ box: ISOBox) -> UInt32? {
        var content = box.content
        guard let version = content.readISOVersion()?.version else { return nil }
        return content.readISOInteger(isWide: version > 0)
    }

    /// Entries before version 2 have no type.
    private static func types(_ box: ISOBox) -> [UInt32: String]? {
        var content = box.content
        guard let version = content.readISOVersion()?.version, content.readISOInteger(isWide: version > 0) != nil,
            let entries = content.readISOBoxes(atMost: maxEntries)
        else { return nil }
        var types: [UInt32: String] = [:]
        for entry in entries where entry.type == "infe" {
            var fields = entry.content
            guard let version = fields.readISOVersion()?.version else { return nil }
            guard version >= 2 else { continue }
            // A protection index comes before the type.
            guard let item = fields.readISOInteger(isWide: version > 2), fields.readSlice(length: 2) != nil,
                let type = fields.readString(length: 4)
            else { return nil }
            types[item] = type
        }
        return types
    }

    private static func references(_ box: ISOBox) -> [Reference]? {
        var content = box.content
        guard let version = content.readISOVersion()?.version,
            let entries = content.readISOBoxes(atMost: maxEntries)
        else { return nil }
        let isWide = version > 0
        var references: [Reference] = []
        var left = maxTargets
        for entry in entries {
            var fields = entry.content
            guard let from = fields.readISOInteger(isWide: isWide), let count = fields.readInteger(as: UInt16.self),
                Int(count) * (isWide ? 4 : 2) <= fields.readableBytes, Int(count) <= left
            else { return nil }
            left -= Int(count)
            let to = (0..<count).compactMap { _ in fields.readISOInteger(isWide: isWide) }
            references.append(Reference(type: entry.type, from: from, to: to))
        }
        return references
    }

    private static func readAssociations(_ box: ISOBox, into all: inout [UInt32: [Association]]) -> Bool {
        var content = box.content
        guard let (version, flags) = content.readISOVersion(), let count = content.readInteger(as: UInt32.self),
            count <= maxEntries
        else { return false }
        let isWide = flags & 1 == 1
        for _ in 0..<count {
            guard let item = content.readISOInteger(isWide: version > 0),
                let uses = content.readInteger(as: UInt8.self)
            else { return false }
            for _ in 0..<uses {
                // The highest bit says whether a reader must know the property.
                let essential: UInt16 = isWide ? 0x8000 : 0x80
                let short = isWide ? nil : content.readInteger(as: UInt8.self).map { UInt16($0) }
                guard let use = isWide ? content.readInteger(as: UInt16.self) : short else { return false }
                all[item, default: []].append(
                    Association(property: Int(use & (essential - 1)), isEssential: use & essential != 0))
            }
            // Several boxes may name an item.
            guard all.count <= maxEntries, (all[item]?.count ?? 0) <= maxUses else { return false }
        }
        return true
    }
}

extension HEIFContainer {
    /// The properties of an item in the order in which they apply.
    func properties(of item: UInt32) -> [ISOBox] { associations[item, default: []].compactMap(property) }

    func property(_ association: Association) -> ISOBox? {
        properties.indices.contains(association.property - 1) ? properties[association.property - 1] : nil
    }

    /// The code points of the primary item's colors, stated by the container or by AV1; nil with an ICC profile, or if
    /// none are stated.
    var color: HEIFColor? {
        var color = codePoints
        color?.peakNits = peakNits
        return color
    }

    private var codePoints: HEIFColor? {
        let coded = coded(primary)
        // A grid may leave the statement to its tiles.
        let stated = [primary, coded].lazy.map { properties(of: $0).filter { $0.type == "colr" } }
        guard let boxes = stated.first(where: { !$0.isEmpty }) else { return codedColor(of: coded) }
        var color: HEIFColor?
        for box in boxes {
            var fields = box.content
            guard fields.readString(length: 4) == "nclx" else { return nil }
            guard let primaries = fields.readInteger(as: UInt16.self),
                let transfer = fields.readInteger(as: UInt16.self), let matrix = fields.readInteger(as: UInt16.self),
                let flags = fields.readInteger(as: UInt8.self)
            else { return nil }
            color = HEIFColor(
                primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: flags & 0x80 != 0)
        }
        return color
    }

    /// The content's greatest light level (ISO/IEC 14496-12 §12.1.6); 0 = unknown.
    private var peakNits: UInt16 {
        let boxes = [primary, coded(primary)].flatMap { properties(of: $0) }
        let content = boxes.first { $0.type == "clli" }?.content
        return content.flatMap { $0.getInteger(at: $0.readerIndex, as: UInt16.self) } ?? 0
    }

    /// The colors as AV1 states them; nil for another codec.
    func codedColor(of item: UInt32) -> HEIFColor? {
        types[item] == "av01" ? data(of: item).flatMap(AV1SequenceHeader.color(of:)) : nil
    }

    /// Whether the primary item has the full range of samples, and not the range of video; nil = not stated.
    var isFullRange: Bool? { color?.isFullRange ?? codedColor(of: coded(primary))?.isFullRange }

    /// Whether the primary item is in AV1 without chroma, as its configuration says (`av1C`, AV1 in ISOBMFF §2.3.3).
    var isGray: Bool {
        let configuration = properties(of: coded(primary)).first { $0.type == "av1C" }?.content
        return configuration.flatMap { $0.getInteger(at: $0.readerIndex + 2, as: UInt8.self) }.map { $0 & 0x10 != 0 }
            ?? false
    }

    /// The first tile of a grid; another item itself.
    func coded(_ item: UInt32) -> UInt32 {
        guard types[item] == "grid" else { return item }
        return references.first { $0.type == "dimg" && $0.from == item }?.to.first ?? item
    }

    /// The item with the alpha channel of an image.
    func alpha(of item: UInt32) -> UInt32? {
        references.first { $0.type == "auxl" && $0.to.contains(item) && isAlpha($0.from) }?.from
    }

    /// Whether an auxiliary image is an alpha channel (ISO/IEC 23000-22 §7.3.5; the other names are of HEVC and AVC).
    func isAlpha(_ item: UInt32) -> Bool {
        associations[item]?.contains { alphaProperties.contains($0.property) } ?? false
    }

    private static func statesAlpha(_ box: ISOBox) -> Bool {
        guard box.type == "auxC", box.content.readableBytes >= 4 else { return false }
        let name = box.content.readableBytesView.dropFirst(4).prefix(maxNameLength).prefix { $0 != 0 }
        return alphaNames.contains { $0.elementsEqual(name) }
    }

    /// One more than the longest of ``alphaNames`` has.
    private static let maxNameLength = 44

    private static let alphaNames = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
    ].map(\.utf8)

    /// The bits of a sample of the primary item, as its first channel states them (`pixi`, HEIF §6.5.6).
    var bits: Int? {
        guard var content = properties(of: coded(primary)).first(where: { $0.type == "pixi" })?.content,
            content.readISOVersion() != nil, let channels = content.readInteger(as: UInt8.self), channels > 0
        else { return nil }
        return content.readInteger(as: UInt8.self).map(Int.init)
    }

    /// Whether the colors of the primary item are multiplied by its alpha.
    var isPremultiplied: Bool { references.contains { $0.type == "prem" && $0.from == primary } }
}

extension HEIFContainer {
    /// The first part of an item's data, in the file or among the descriptions (ISO/IEC 14496-12 §8.11.3).
    func data(of item: UInt32) -> ByteBuffer? {
        guard var rest = children.first(where: { $0.type == "iloc" })?.content,
            let version = rest.readISOVersion()?.version, let sizes = rest.readInteger(as: UInt16.self),
            let count = rest.readISOInteger(isWide: version > 1)
        else { return nil }
        let (offsetSize, lengthSize) = (Int(sizes >> 12), Int(sizes >> 8 & 0x0F))
        let (baseSize, indexSize) = (Int(sizes >> 4 & 0x0F), version > 0 ? Int(sizes & 0x0F) : 0)
        for _ in 0..<count {
            guard let id = rest.readISOInteger(isWide: version > 1),
                let method = version > 0 ? rest.readInteger(as: UInt16.self) : 0, rest.readSlice(length: 2) != nil,
                let base = rest.readISOInteger(size: baseSize), let extents = rest.readInteger(as: UInt16.self)
            else { return nil }
            guard id == item, extents > 0 else {
                let length = Int(extents) * (indexSize + offsetSize + lengthSize)
                guard rest.readSlice(length: length) != nil else { return nil }
                continue
            }
            guard rest.readSlice(length: indexSize) != nil, let offset = rest.readISOInteger(size: offsetSize),
                let length = rest.readISOInteger(size: lengthSize)
            else { return nil }
            let descriptions = children.first { $0.type == "idat" }?.content
            return part(method & 0x0F == 1 ? descriptions : file, base, offset, length)
        }
        return nil
    }

    /// A length of 0 is the rest.
    private func part(_ bytes: ByteBuffer?, _ base: UInt64, _ offset: UInt64, _ length: UInt64) -> ByteBuffer? {
        let (start, overflows) = base.addingReportingOverflow(offset)
        guard let bytes, !overflows, start <= bytes.readableBytes else { return nil }
        let rest = bytes.readableBytes - Int(start)
        return bytes.getSlice(
            at: bytes.readerIndex + Int(start), length: length == 0 ? rest : Int(min(length, UInt64(rest))))
    }
}

extension ByteBuffer {
    /// Reads an integer of 0, 4 or 8 bytes.
    fileprivate mutating func readISOInteger(size: Int) -> UInt64? {
        switch size {
        case 0: 0
        case 4: readInteger(as: UInt32.self).map { UInt64($0) }
        case 8: readInteger()
        default: nil
        }
    }
}
