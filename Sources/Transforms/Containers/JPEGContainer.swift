import NIOCore

/// The segments of a JPEG file (ITU-T T.81 Annex B): one pass over a file that copies the segments that draw something.
struct JPEGContainer {
    private var rest: ByteBuffer
    private var kept = ByteBuffer()
    /// The kept application segments.
    private var applications: Set<UInt8> = []
    private var hasFrame = false
    /// The length of the kept bytes up to the end of the last scan; 0 = no scan so far. Tables after the last scan draw
    /// nothing.
    private var endOfScans = 0

    /// The file with only tables, frame and scans, and the two application segments that decide how components become
    /// colors: JFIF without its thumbnail, and Adobe's. Bytes after the end of the image are removed too.
    ///
    /// Returns nil for a file that is not exactly one baseline or progressive image of 8 bits with one or three
    /// components.
    static func stripped(_ file: ByteBuffer) -> ByteBuffer? {
        var walk = JPEGContainer(rest: file)
        return walk.strippedFile()
    }

    private mutating func strippedFile() -> ByteBuffer? {
        guard rest.readInteger(as: UInt16.self) == Marker.start else { return nil }
        kept.reserveCapacity(rest.readableBytes + 2)
        kept.writeInteger(Marker.start)
        while let marker = readMarker() {
            guard marker != Marker.end else {
                guard endOfScans > 0 else { return nil }
                kept.moveWriterIndex(to: endOfScans)
                kept.writeBytes([0xFF, Marker.end])
                return kept
            }
            guard let length = rest.readInteger(as: UInt16.self), length >= 2,
                let content = rest.readSlice(length: Int(length) - 2), keep(marker, content)
            else { return nil }
        }
        return nil
    }

    /// The second byte of a marker. Any number of 0xFF may come before it (B.1.1.2).
    private mutating func readMarker() -> UInt8? {
        guard rest.readInteger(as: UInt8.self) == 0xFF else { return nil }
        while let byte = rest.readInteger(as: UInt8.self) {
            if byte != 0xFF { return byte }
        }
        return nil
    }

    /// Returns false for a segment that the file must not have.
    private mutating func keep(_ marker: UInt8, _ content: ByteBuffer) -> Bool {
        switch marker {
        // Version and density, with a thumbnail of no pixels (JFIF 1.02).
        case Marker.jfif: return keepApplication(marker, content, "JFIF\0", adding: [0, 0])
        // The last of the twelve bytes is the color transform.
        case Marker.adobe: return keepApplication(marker, content, "Adobe")
        case Marker.applications, Marker.comment: return true
        case Marker.frames: return keepFrame(marker, content)
        case Marker.huffmanTables, Marker.quantizationTables: break
        case Marker.restartInterval: guard content.readableBytes == 2 else { return false }
        case Marker.scan: return keepScan(content)
        default: return false
        }
        write(marker, content)
        return true
    }

    private mutating func write(_ marker: UInt8, _ content: ByteBuffer) {
        kept.writeBytes([0xFF, marker])
        kept.writeInteger(UInt16(content.readableBytes + 2))
        kept.writeImmutableBuffer(content)
    }

    /// The first twelve bytes, and `end` in place of the other bytes, of which there must be as many. Other segments of
    /// that number are left out.
    private mutating func keepApplication(
        _ marker: UInt8, _ content: ByteBuffer, _ name: String, adding end: [UInt8] = []
    ) -> Bool {
        guard content.readableBytesView.starts(with: name.utf8), content.readableBytes >= 12 + end.count else {
            return true
        }
        guard !hasFrame, applications.insert(marker).inserted,
            var bare = content.getSlice(at: content.readerIndex, length: 12)
        else { return false }
        bare.writeBytes(end)
        write(marker, bare)
        return true
    }

    /// Precision, height, width, number of components, and three bytes for each (B.2.2).
    private mutating func keepFrame(_ marker: UInt8, _ content: ByteBuffer) -> Bool {
        var fields = content
        guard !hasFrame, fields.readInteger(as: UInt8.self) == 8, let height = fields.readInteger(as: UInt16.self),
            let width = fields.readInteger(as: UInt16.self), height > 0, width > 0,
            let components = fields.readInteger(as: UInt8.self), components == 1 || components == 3,
            fields.readableBytes == 3 * Int(components)
        else { return false }
        hasFrame = true
        write(marker, content)
        return true
    }

    /// The header of a scan (B.2.3) with the coded data that follows it.
    private mutating func keepScan(_ content: ByteBuffer) -> Bool {
        guard hasFrame, let components = content.getInteger(at: content.readerIndex, as: UInt8.self),
            (1...3).contains(components), content.readableBytes == 4 + 2 * Int(components),
            let length = codedLength(), let coded = rest.readSlice(length: length)
        else { return false }
        write(Marker.scan, content)
        kept.writeImmutableBuffer(coded)
        endOfScans = kept.writerIndex
        return true
    }

    /// The length of coded data up to the next marker: in it, 0xFF precedes only 0, restart markers and 0xFF.
    private func codedLength() -> Int? {
        rest.withUnsafeReadableBytes { bytes in
            var index = 0
            while let prefix = bytes.position(of: 0xFF, from: index), prefix + 1 < bytes.count {
                switch bytes[prefix + 1] {
                case 0, Marker.restarts: index = prefix + 2
                case 0xFF: index = prefix + 1
                default: return prefix
                }
            }
            return nil
        }
    }

    /// The second bytes of markers (Table B.1).
    enum Marker {
        static let start: UInt16 = 0xFFD8
        /// Has no segment, like ``start``, ``end`` and ``restarts``.
        static let temporary: UInt8 = 0x01
        static let end: UInt8 = 0xD9
        /// Baseline, extended sequential and lossless, with either coding: not progressive.
        static let sequentialFrames: [UInt8] = [0xC0, 0xC1, 0xC3, 0xC9, 0xCB]
        /// Baseline, extended sequential and progressive, all with Huffman coding.
        static let frames: ClosedRange<UInt8> = 0xC0...0xC2
        /// All that libjpeg decodes.
        static let anyFrames: [UInt8] = sequentialFrames + [0xC2, 0xCA]
        static let huffmanTables: UInt8 = 0xC4
        static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
        static let scan: UInt8 = 0xDA
        static let quantizationTables: UInt8 = 0xDB
        static let restartInterval: UInt8 = 0xDD
        static let applications: ClosedRange<UInt8> = 0xE0...0xEF
        static let jfif: UInt8 = 0xE0
        static let exif: UInt8 = 0xE1
        static let profile: UInt8 = 0xE2
        static let jumbf: UInt8 = 0xEB
        static let adobe: UInt8 = 0xEE
        static let comment: UInt8 = 0xFE
    }
}

extension JPEGContainer {
    /// The file with an XMP packet behind JFIF and EXIF, which come first; nil if the packet is too long for a segment.
    static func adding(xmp: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        adding(Marker.exif, xmpName, xmp, to: file)
    }

    /// The file with an ICC profile behind JFIF and EXIF; nil if the profile is too long for a segment (ICC.1:2022,
    /// §B.4).
    static func adding(profile: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        // The first of one.
        adding(Marker.profile, Array("ICC_PROFILE\0".utf8) + [1, 1], profile, to: file)
    }

    /// The file with an application segment behind JFIF, EXIF and XMP; nil if it is too long.
    static func adding(_ marker: UInt8, _ name: [UInt8], _ content: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        guard let place = endOfMetadata(of: file), let length = UInt16(exactly: 2 + name.count + content.readableBytes)
        else { return nil }
        var whole = ByteBuffer()
        whole.reserveCapacity(file.readableBytes + Int(length) + 2)
        whole.writeBytes(file.readableBytesView.prefix(place))
        whole.writeBytes([0xFF, marker])
        whole.writeInteger(length)
        whole.writeBytes(name)
        whole.writeImmutableBuffer(content)
        whole.writeBytes(file.readableBytesView.dropFirst(place))
        return whole
    }

    /// The bytes of a file up to the end of JFIF, EXIF and XMP, which come first; nil if it is no JPEG.
    static func endOfMetadata(of file: ByteBuffer) -> Int? {
        var walk = JPEGContainer(rest: file)
        guard walk.rest.readInteger(as: UInt16.self) == Marker.start else { return nil }
        while let bytes = walk.rest.getBytes(at: walk.rest.readerIndex, length: 2), bytes[0] == 0xFF,
            [Marker.jfif, Marker.exif].contains(bytes[1]),
            let length: UInt16 = walk.rest.getInteger(at: walk.rest.readerIndex + 2),
            walk.rest.readSlice(length: 2 + Int(length)) != nil
        {}
        return file.readableBytes - walk.rest.readableBytes
    }

    /// The file with EXIF that libexif reads: like browsers, with any byte behind `Exif` and its zero.
    static func withUsualEXIF(_ file: ByteBuffer) -> ByteBuffer {
        var usual = file
        eachSegmentBeforePixels(of: file) { marker, content, offset in
            let head = content.readableBytesView.prefix(6)
            guard marker == Marker.exif, head.starts(with: "Exif\0".utf8), head.count == 6, head.last != 0 else {
                return
            }
            usual.setInteger(UInt8(0), at: usual.readerIndex + offset + 5)
        }
        return usual
    }

    /// What a segment with XMP begins with (ISO 16684-3).
    static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8)

    /// Passes the segments before the pixels to `body`, up to the first that is not whole.
    ///
    /// - Parameter offset: the bytes of the file before the content of the segment.
    static func eachSegmentBeforePixels(
        of file: ByteBuffer, _ body: (_ marker: UInt8, _ content: ByteBuffer, _ offset: Int) -> Void
    ) {
        var walk = JPEGContainer(rest: file)
        guard walk.rest.readInteger(as: UInt16.self) == Marker.start else { return }
        while let marker = walk.readMarker(), marker != Marker.scan, marker != Marker.end,
            let length = walk.rest.readInteger(as: UInt16.self), length >= 2,
            let content = walk.rest.readSlice(length: Int(length) - 2)
        {
            body(marker, content, file.readableBytes - walk.rest.readableBytes - content.readableBytes)
        }
    }

    /// The content of the first segment before the pixels that begins with a name, without the name; nil if there is
    /// none.
    static func segment(_ marker: UInt8, _ name: [UInt8], of file: ByteBuffer) -> ByteBuffer? {
        var found: ByteBuffer?
        eachSegmentBeforePixels(of: file) { candidate, content, _ in
            guard found == nil, candidate == marker, content.readableBytesView.starts(with: name) else { return }
            found = content.getSlice(
                at: content.readerIndex + name.count, length: content.readableBytes - name.count)
        }
        return found
    }

    /// Whether a segment before the pixels begins a C2PA manifest.
    static func hasManifest(_ file: ByteBuffer) -> Bool {
        var isPresent = false
        eachSegmentBeforePixels(of: file) { marker, content, _ in
            // An identifier, and the numbers of the box and of its segment, precede the box.
            if marker == Marker.jumbf, content.beginsManifest(at: 8) { isPresent = true }
        }
        return isPresent
    }

    /// Whether the file has all scans and no end. The last scan may be incomplete.
    static func lacksOnlyEnd(_ file: ByteBuffer) -> Bool {
        guard !hasEnd(file) else { return false }
        let segments = Segments.counted(in: file, atMost: HeaderLimits.maxSegments)
        guard segments.areWhole, let pixels = segments.pixels else { return false }
        // Coded data contain no such marker, but what follows the image may contain anything.
        return !file.withUnsafeReadableBytes { bytes in
            var index = pixels
            while let prefix = bytes.position(of: 0xFF, from: index), prefix + 1 < bytes.count {
                if bytes[prefix + 1] == Marker.end { return true }
                index = prefix + 1
            }
            return false
        }
    }

    /// The file with an end; nil unless it lacks only that.
    static func withEnd(_ file: ByteBuffer) -> ByteBuffer? {
        guard lacksOnlyEnd(file) else { return nil }
        var ended = ByteBuffer()
        ended.reserveCapacity(file.readableBytes + end.count)
        ended.writeImmutableBuffer(file)
        // Half of a marker, which would be another marker with what follows it.
        while ended.readableBytesView.last == 0xFF { ended.moveWriterIndex(to: ended.writerIndex - 1) }
        ended.writeBytes(end)
        return ended
    }

    /// A file of ``withEnd(_:)`` with further bytes before its end. Decoders show them if the last scan is incomplete,
    /// and ignore them otherwise.
    static func withFiller(_ ended: ByteBuffer) -> ByteBuffer {
        var filled = ByteBuffer()
        filled.reserveCapacity(ended.readableBytes + filler.count)
        filled.writeBytes(ended.readableBytesView.dropLast(end.count))
        filled.writeBytes(filler)
        filled.writeBytes(end)
        return filled
    }

    /// A file up to its last end-of-image marker.
    static func withoutEnd(_ file: ByteBuffer) -> ByteBuffer {
        let bytes = file.readableBytesView
        let last = bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == Marker.end }
        return last.flatMap { file.getSlice(at: bytes.startIndex, length: $0 - bytes.startIndex) } ?? file
    }

    private static let end: [UInt8] = [0xFF, Marker.end]
    /// Codes of many lengths and values, and no marker.
    private static let filler: [UInt8] = (0..<64).map { UInt8(truncatingIfNeeded: 0x35 + 0x5D * $0) & 0x7F }

    /// Whether an end-of-image marker follows the last start of scan. Any amount of other bytes may follow the marker.
    static func hasEnd(_ file: ByteBuffer) -> Bool {
        file.withUnsafeReadableBytes { bytes in
            // Pieces from the end on: most files end with the marker.
            var end = bytes.count - 1
            while end > 1 {
                let start = max(end - searchedBytes, 1)
                var (last, index): (UInt8?, Int) = (nil, start)
                while let prefix = bytes.position(of: 0xFF, from: index, to: end) {
                    let marker = bytes[prefix + 1]
                    if marker == Marker.end || marker == Marker.scan { last = marker }
                    index = prefix + 1
                }
                if let last { return last == Marker.end }
                end = start
            }
            return false
        }
    }

    private static let searchedBytes = 4096

    /// The segments of a file, found as libjpeg finds them: it skips all bytes up to the next marker.
    struct Segments {
        private(set) var count = 0
        /// The scans among them; 1 if the first scan has all components of a sequential image, because decoders read
        /// nothing after it.
        private(set) var scans = 0
        /// The position of the first scan's coded data.
        private(set) var pixels: Int?
        /// The coefficients of each component that no scan has delivered in full, one bit for each.
        private var missing: [UInt8: UInt64] = [:]
        /// Whether the scans deliver all coefficients of all components.
        var areWhole: Bool { !missing.isEmpty && missing.values.allSatisfy { $0 == 0 } }

        /// Counts up to `limit` + 1 segments.
        static func counted(in file: ByteBuffer, atMost limit: Int) -> Segments {
            file.withUnsafeReadableBytes { counted(in: $0, atMost: limit) }
        }

        private static func counted(in bytes: UnsafeRawBufferPointer, atMost limit: Int) -> Segments {
            var segments = Segments()
            var components: UInt8?
            var index = 2
            while segments.count <= limit, let marker = nextMarker(in: bytes, &index), marker != Marker.end,
                index + 2 < bytes.count
            {
                let content = index + 2
                // A length counts its own two bytes. libjpeg accepts a shorter length.
                index += max(Int(bytes[index]) << 8 | Int(bytes[index + 1]), 2)
                segments.count += 1
                if Marker.sequentialFrames.contains(marker), content + 5 < bytes.count {
                    components = bytes[content + 5]
                }
                let fields = UnsafeRawBufferPointer(rebasing: bytes[content..<max(content, min(index, bytes.count))])
                segments.addFrame(marker, fields)
                guard marker == Marker.scan else { continue }
                segments.scans += 1
                segments.pixels = segments.pixels ?? index
                segments.addScan(fields, isProgressive: components == nil)
                if bytes[content] == components { break }
            }
            return segments
        }

        /// Three bytes for each component follow six others (B.2.2).
        private mutating func addFrame(_ marker: UInt8, _ fields: UnsafeRawBufferPointer) {
            guard Marker.anyFrames.contains(marker), fields.count > 5 else { return }
            for index in stride(from: 6, to: min(6 + 3 * Int(fields[5]), fields.count), by: 3) {
                missing[fields[index]] = .max
            }
        }

        /// Two bytes for each component, then the first and last coefficient and the position of the last bit (B.2.3).
        private mutating func addScan(_ fields: UnsafeRawBufferPointer, isProgressive: Bool) {
            guard let count = fields.first.map({ Int($0) }), fields.count >= 4 + 2 * count else { return }
            let (first, last, bits) = (fields[1 + 2 * count], fields[2 + 2 * count], fields[3 + 2 * count])
            var delivered = UInt64.max
            if isProgressive {
                guard first <= last, last < 64, bits & 0x0F == 0 else { return }
                delivered = (delivered >> (63 - UInt64(last - first))) << UInt64(first)
            }
            for index in 0..<count { missing[fields[1 + 2 * index]]? &= ~delivered }
        }

        /// The second byte of the next marker with a segment, or of the end of the image; nil if there is none.
        private static func nextMarker(in bytes: UnsafeRawBufferPointer, _ index: inout Int) -> UInt8? {
            while let prefix = bytes.position(of: 0xFF, from: index), prefix + 1 < bytes.count {
                let marker = bytes[prefix + 1]
                index = marker == 0xFF ? prefix + 1 : prefix + 2
                switch marker {
                case 0, 0xFF, Marker.temporary, Marker.restarts, UInt8(truncatingIfNeeded: Marker.start): continue
                default: return marker
                }
            }
            return nil
        }
    }
}
