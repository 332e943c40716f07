import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache

/// The encodings of records.
struct SourceRecordTests {
    private static let policy = FreshnessPolicy()
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func record(_ fields: HTTPFields, url: String = "http://example.com/a.png") -> SourceRecord {
        SourceRecord(
            url: url, host: "example.com", answeredURL: url,
            response: StoredResponse(
                status: 200, fields: fields, sent: [.accept: "image/*", .userAgent: "darkroom"], requestedAt: Self.now,
                receivedAt: Self.now),
            content: StoreKey(hashing: "x".utf8), policy: Self.policy)
    }

    @Test func `A record decodes from its bytes`() throws {
        let before = record([
            .cacheControl: "max-age=60, stale-if-error=5", .vary: "Accept", .eTag: "W/\"a\"", .age: "7",
            .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Fri, 15 Jan 2027 08:00:00 GMT",
        ])
        var response = before.response
        response.staleSince = Self.now
        for record in [before, before.with(response, policy: Self.policy)] {
            let after = try #require(SourceRecord(record.bytes, policy: Self.policy))
            #expect(after.response == record.response)
            #expect(after.freshness == record.freshness)
            #expect(after.content == record.content)
            #expect([after.url, after.host, after.answeredURL] == [record.url, record.host, record.answeredURL])
        }
    }

    @Test func `Truncated bytes and another revision are rejected`() throws {
        let bytes = record([.cacheControl: "max-age=60", .vary: "Accept"]).bytes
        for length in 0..<bytes.readableBytes {
            let cut = try #require(bytes.getSlice(at: 0, length: length))
            #expect(SourceRecord(cut, policy: Self.policy) == nil)
        }
        var other = bytes
        other.setInteger(UInt8(99), at: 0)
        #expect(SourceRecord(other, policy: Self.policy) == nil)
    }

    /// The dates lie behind the revision and the hash of the content.
    @Test(arguments: [Int64.min + 1, Int64.min + 56, -1 << 60, 1 << 60, .max], [0, 8, 16])
    func `Dates that no clock shows are rejected, because they could not be written again`(
        milliseconds: Int64, offset: Int
    ) {
        var bytes = record([.cacheControl: "max-age=60"]).bytes
        bytes.setInteger(milliseconds, at: 1 + StoreKey.byteCount + offset)
        #expect(SourceRecord(bytes, policy: Self.policy) == nil)
    }

    @Test func `Arbitrary bytes are decoded safely`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var bytes = ByteBuffer(bytes: [1])
            bytes.writeBytes((0..<Int.random(in: 0...200, using: &numbers)).map { _ in UInt8.random(in: 0...255) })
            _ = SourceRecord(bytes, policy: Self.policy)
            _ = VariantRecord(bytes)
        }
    }

    @Test func `Every source's labels fit the disk's limits`() throws {
        let path = String(repeating: "a", count: SourceURL.maximumBytes - "http://example.com/".utf8.count)
        let tags = (0..<300).map { "tag-\($0)" }.joined(separator: ",")
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name("Cache-Tag"))] = tags
        let labels = record(fields, url: "http://example.com/\(path)").entry.labels
        #expect(labels.count <= StoredEntry.maximumLabels)
        #expect(labels.allSatisfy { $0.utf8.count <= StoredEntry.maximumLabelBytes })
        #expect(labels.contains("host:example.com"))
        #expect(labels.contains("tag:tag-127"))
    }

    @Test func `A variant's record keeps quality and gaps, and refuses bytes that are none`() throws {
        var record = VariantRecord(
            content: StoreKey(hashing: "content".utf8), format: .webp, size: PixelSize(width: 3, height: 2),
            sourceBytes: 5, digest: String(repeating: "a", count: 64))
        for quality in [
            nil, ResultQuality(value: nil), ResultQuality(value: 20, fits: false), .ofSource(), .ofSource(fits: false),
        ] {
            record.quality = quality
            #expect(VariantRecord(record.bytes) == record)
        }
        record.gaps = .all
        for faces in [nil, 0, 100] {
            record.faces = faces
            #expect(VariantRecord(record.bytes) == record)
        }
        for (place, code) in [(3, UInt8(101)), (1, 101)] {
            var bytes = record.bytes
            bytes.setInteger(code, at: bytes.writerIndex - place)
            #expect(VariantRecord(bytes) == nil)
        }
    }
}
