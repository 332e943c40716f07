import DarkroomMachine
import NIOCore
import Testing

@testable import DarkroomStore

/// The objects of the shared tier and their names.
struct SharedObjectTests {
    private static let key = EntryKey(source: StoreKey(hashing: [1]), entry: StoreKey(hashing: [2]))

    private static func head(_ body: ByteBuffer, _ kind: SharedObject.Kind = .variant) -> SharedObject.Head {
        SharedObject.Head(
            kind: kind, key: key, writtenAt: 1_800_000_000_000,
            record: SharedRecord(order: 1_799_999_999_999, metadata: ByteBuffer(string: "record")),
            metadata: ByteBuffer(string: "variant"), bodyBytes: body.readableBytes,
            bodyDigest: StoreKey(hashing: body.readableBytesView))
    }

    private static func decode(_ bytes: ByteBuffer, partBytes: Int) -> SharedObject? {
        let reader = SharedObjectReader()
        var rest = bytes
        while let part = rest.readSlice(length: min(partBytes, rest.readableBytes)), part.readableBytes > 0 {
            guard reader.append(part) else { return nil }
        }
        return reader.finish()
    }

    @Test(arguments: [0, 1, 5_000, 200_000], [1, 7, 64, 4_096, 1_000_000])
    func `An object is read as it was written, in parts of any size`(bodyBytes: Int, partBytes: Int) throws {
        let body = ByteBuffer(bytes: (0..<bodyBytes).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let head = Self.head(body)
        let object = try #require(Self.decode(SharedObject.encode(head, body), partBytes: partBytes))
        #expect(object.head == head)
        #expect(object.body.buffer == body)
    }

    @Test(arguments: [Int64.min, -1, 253_402_300_800_000, .max])
    func `An object whose time or order is impossible is not read`(_ time: Int64) {
        let body = ByteBuffer(string: "the body of an image")
        var (late, high) = (Self.head(body), Self.head(body))
        late.writtenAt = time
        high.record = SharedRecord(order: time, metadata: ByteBuffer())
        #expect(Self.decode(SharedObject.encode(late, body), partBytes: 50) == nil)
        #expect(Self.decode(SharedObject.encode(high, body), partBytes: 50) == nil)
    }

    @Test func `No change of a single byte goes unnoticed`() {
        let body = ByteBuffer(string: "the body of an image")
        let object = SharedObject.encode(Self.head(body), body)
        for index in 0..<object.readableBytes {
            for change: UInt8 in [1, 0x80, 0xff] {
                var bytes = Array(object.readableBytesView)
                bytes[index] ^= change
                #expect(Self.decode(ByteBuffer(bytes: bytes), partBytes: 50) == nil, "\(index)")
            }
        }
    }

    @Test func `Neither a beginning nor an extended object is one`() throws {
        let body = ByteBuffer(string: "the body of an image")
        let object = SharedObject.encode(Self.head(body), body)
        for count in 0..<object.readableBytes {
            let part = try #require(object.getSlice(at: 0, length: count))
            #expect(Self.decode(part, partBytes: 50) == nil)
        }
        var longer = object
        longer.writeInteger(UInt8(0))
        #expect(Self.decode(longer, partBytes: 50) == nil)
    }

    @Test(arguments: ["", "DKRM", "<html>404</html>", "DKRM\u{1}\u{7f}\u{7f}\u{7f}\u{7f}rest"])
    func `Other bytes are no object, and reserve no memory`(text: String) {
        #expect(Self.decode(ByteBuffer(string: text), partBytes: 3) == nil)
    }

    @Test func `A body that is announced but does not come reserves little memory`() throws {
        var head = Self.head(ByteBuffer())
        head.bodyBytes = 1 << 40
        let reader = SharedObjectReader()
        #expect(reader.append(SharedObject.encode(head, ByteBuffer(string: "short"))))
        #expect(reader.finish() == nil)
    }
}

struct SharedNameTests {
    private static let source = StoreKey(hashing: [1])

    @Test func `The newest record is listed first, and a removal before a record of the same moment`() {
        var random = SystemRandomNumberGenerator()
        let versions = (0..<500).map { _ in
            RecordVersion(
                order: Int64.random(in: 0...(Bool.random() ? 50 : .max), using: &random),
                digest: Bool.random(using: &random) ? nil : UInt64.random(in: 0 ... .max, using: &random))
        }
        let listed = versions.map { SharedName.record(of: Self.source, $0) }.sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        let read = listed.compactMap { RecordVersion(ofRecordNamed: $0, of: Self.source) }
        #expect(read.count == versions.count)
        #expect(Set(read) == Set(versions))
        for (earlier, later) in zip(read, read.dropFirst()) {
            #expect(earlier.order >= later.order)
            if earlier.order == later.order, later.digest == nil { #expect(earlier.digest == nil) }
        }
    }

    @Test(arguments: ["", "x", "0-0", "7fffffffffffffff", "ffffffffffffffff-0", "7fffffffffffffff-1", "7ff-0-0"])
    func `Other names are no records`(text: String) {
        #expect(RecordVersion(ofRecordNamed: SharedName.records(of: Self.source) + text, of: Self.source) == nil)
        #expect(RecordVersion(ofRecordNamed: text, of: Self.source) == nil)
    }
}
