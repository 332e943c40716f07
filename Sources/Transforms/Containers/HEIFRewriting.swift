import NIOCore

// Valid files that libheif refuses, or shows in another way than browsers do.

extension HEIFContainer {
    /// The file with its items described as libheif reads them; nil if they are already.
    ///
    /// The old description stays in its place without a meaning, and the new one follows the file, so that no offset
    /// of an item changes. The rewritten description differs in this:
    ///
    /// - Metadata, thumbnails and auxiliary images refer to one image: before 1.18, libheif refuses files of iOS 18 and
    ///   later, whose metadata also describe a tone map.
    /// - An alpha channel is rotated, mirrored and cropped like its image. Until mid-2025, libavif described that for
    ///   the image only, and libheif ignores an alpha channel of another size.
    /// - Only a grid is rotated, mirrored and cropped, not each of its cells as well: libavif 0.11 repeats it for them.
    /// - Groups of items are left out, since libheif before 1.18 knows only groups without further fields.
    /// - The description has a length, which libheif requires.
    func rewritten() -> ByteBuffer? {
        let references = references.compactMap(reduced)
        var associations = associations
        var done: Set<UInt32> = []
        for reference in references where reference.type == "auxl" && isAlpha(reference.from) {
            guard let image = reference.to.first, done.insert(reference.from).inserted else { continue }
            associations[reference.from] = transforming(reference.from, like: image)
        }
        for reference in references where reference.type == "dimg" && types[reference.from] == "grid" {
            let whole = transformations(of: reference.from)
            for cell in reference.to where !whole.isEmpty && transformations(of: cell) == whole {
                associations[cell]?.removeAll(where: isTransformation)
            }
        }
        guard
            meta.isOpenEnded || hasUnknownGroups || references != self.references || associations != self.associations
        else { return nil }
        return describing(properties.map(\.bytes), references, associations)
    }

    /// The file with another description of its items.
    func describing(
        _ properties: [ByteBuffer], _ references: [Reference], _ associations: [UInt32: [Association]]
    ) -> ByteBuffer? {
        appending(description(properties, references, associations))
    }

    /// The reference with only the target that is shown, if it may have one only; nil if none of its targets is an
    /// image.
    private func reduced(_ reference: Reference) -> Reference? {
        guard ["cdsc", "thmb", "auxl"].contains(reference.type) else { return reference }
        let images = reference.to.filter { $0 != reference.from && Self.imageTypes.contains(types[$0] ?? "") }
        guard let target = images.contains(primary) ? primary : images.first else { return nil }
        return Reference(type: reference.type, from: reference.from, to: [target])
    }

    /// The item types for which libheif makes an image, the last three from 1.17 on. Other items, such as tone maps,
    /// cannot be targets.
    private static let imageTypes: Set = ["hvc1", "av01", "vvc1", "grid", "iden", "iovl", "jpeg", "j2k1", "avc1"]
    private static let transformations: Set = ["irot", "imir", "clap"]
    /// The length of `clap`.
    private static let longestTransformation = 40

    /// The associations of an alpha channel, with the transformations of its image instead of its own; its own if there
    /// would be too many.
    private func transforming(_ alpha: UInt32, like image: UInt32) -> [Association] {
        let own = associations[alpha, default: []]
        let (before, after) = (own.filter(isTransformation), associations[image, default: []].filter(isTransformation))
        guard before.map({ property($0)?.bytes }) != after.map({ property($0)?.bytes }) else { return own }
        let uses = own.filter { !isTransformation($0) } + after
        return uses.count <= Self.maxUses ? uses : own
    }

    private func isTransformation(_ use: Association) -> Bool {
        property(use).map {
            Self.transformations.contains($0.type) && $0.bytes.readableBytes <= Self.longestTransformation
        } ?? false
    }

    private func transformations(of item: UInt32) -> [ByteBuffer?] {
        associations[item, default: []].filter(isTransformation).map { property($0)?.bytes }
    }

    /// Whether there are groups other than of alternatives.
    private var hasUnknownGroups: Bool {
        guard var content = children.first(where: { $0.type == "grpl" })?.content else { return false }
        return content.readISOBoxes(atMost: Self.maxEntries)?.contains { $0.type != "altr" } ?? true
    }

    private func description(
        _ properties: [ByteBuffer], _ references: [Reference], _ associations: [UInt32: [Association]]
    ) -> ByteBuffer {
        var description = ByteBuffer()
        description.writeISOBox("meta") { meta in
            meta.writeInteger(UInt32(0))
            var isWritten = false
            for child in children {
                switch child.type {
                case "iprp" where !isWritten:
                    isWritten = true
                    if !references.isEmpty { meta.writeISOReferences(references) }
                    meta.writeISOBox("iprp") { box in
                        box.writeISOBox("ipco") { list in
                            for property in properties { list.writeImmutableBuffer(property) }
                        }
                        box.writeISOAssociations(associations)
                    }
                case "iprp", "iref", "grpl": break
                default: meta.writeImmutableBuffer(child.bytes)
                }
            }
        }
        return description
    }

    /// The file with another description at its end; nil if it is too large for that.
    private func appending(_ description: ByteBuffer) -> ByteBuffer? {
        var rest = file
        var last: ISOBox?
        var count = 0
        while rest.readableBytes > 0, count <= Self.maxEntries, let box = ISOBox(from: &rest) {
            last = box
            count += 1
        }
        guard count <= Self.maxEntries else { return nil }
        var copy = ByteBuffer()
        copy.reserveCapacity(file.readableBytes + description.readableBytes + Self.boxHeaderLength)
        copy.writeImmutableBuffer(file)
        copy.setString("free", at: meta.start - file.readerIndex + 4)
        for box in [meta, last].compactMap({ $0 }) where box.isOpenEnded {
            guard let length = UInt32(exactly: box.bytes.readableBytes) else { return nil }
            copy.setInteger(length, at: box.start - file.readerIndex)
        }
        // Bytes after the last box become a box, since readers stop at them.
        if rest.readableBytes > 0 {
            let length = max(rest.readableBytes, Self.boxHeaderLength)
            guard let stated = UInt32(exactly: length) else { return nil }
            copy.writeRepeatingByte(0, count: length - rest.readableBytes)
            copy.setInteger(stated, at: copy.writerIndex - length)
            copy.setString("free", at: copy.writerIndex - length + 4)
        }
        copy.writeImmutableBuffer(description)
        return copy
    }

    private static let boxHeaderLength = 8
}

extension ByteBuffer {
    /// Appends references with wide identifiers.
    fileprivate mutating func writeISOReferences(_ references: [HEIFContainer.Reference]) {
        writeISOBox("iref") { box in
            box.writeInteger(UInt32(1) << 24)
            for reference in references {
                box.writeISOBox(reference.type) { entry in
                    entry.writeInteger(reference.from)
                    entry.writeInteger(UInt16(clamping: reference.to.count))
                    for item in reference.to { entry.writeInteger(item) }
                }
            }
        }
    }

    /// Appends associations with wide identifiers and indices, in the order that the standard requires.
    fileprivate mutating func writeISOAssociations(_ associations: [UInt32: [HEIFContainer.Association]]) {
        writeISOBox("ipma") { box in
            box.writeInteger(UInt32(1) << 24 | 1)
            box.writeInteger(UInt32(clamping: associations.count))
            for (item, uses) in associations.sorted(by: { $0.key < $1.key }) {
                box.writeInteger(item)
                box.writeInteger(UInt8(clamping: uses.count))
                for use in uses {
                    box.writeInteger(UInt16(use.property) | (use.isEssential ? 0x8000 : 0))
                }
            }
        }
    }
}
