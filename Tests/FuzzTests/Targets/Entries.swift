import DarkroomHTTPCaching
import DarkroomRequests
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomStore

extension FuzzTests {
    @Test func `The head of a file in the cache is whole or none`() throws {
        fuzzer.run("entry-head", bytes: [try Self.entryFile()]) { input in
            guard let head = EntryHeader(reading: ByteBuffer(bytes: input), fileBytes: input.count) else { return }
            try hold(
                Array(head.bytes.readableBytesView) == Array(input.prefix(head.bytes.readableBytes)), "\(head.record)")
            _ = head.record.entry(verifying: ByteBuffer(bytes: input))
        }
    }

    @Test func `Labels are the same list when they are written again`() throws {
        let labels = try #require(EntryLabels(["url:https://a.org/", "", "tag:é"]))
        fuzzer.run("labels", bytes: [labels.bytes, []]) { input in
            guard let labels = EntryLabels(bytes: input) else { return }
            try hold(labels.strings.count <= StoredEntry.maximumLabels, "\(labels.strings.count) labels")
            try hold(Set(EntryLabels(labels.strings)?.strings ?? []) == Set(labels.strings), "\(labels.strings)")
        }
    }

    @Test func `A record of a source is the same when it is written again, and can be judged at any time`() throws {
        fuzzer.run("source-record", bytes: [Self.sourceRecord()]) { input in
            guard let record = SourceRecord(ByteBuffer(bytes: input), policy: FreshnessPolicy()) else { return }
            guard let again = SourceRecord(record.bytes, policy: FreshnessPolicy()) else {
                throw Unheld(reason: "not read again")
            }
            try hold(again.bytes == record.bytes, "another record")
            for policy in [FreshnessPolicy(), FreshnessPolicy(respectsOrigin: false)] {
                let freshness = record.response.freshness(policy)
                _ = (
                    freshness.age(at: Date()), freshness.remaining(at: Date()),
                    freshness.allowsStaleOnError(at: Date())
                )
            }
        }
    }

    @Test func `A record of a variant is the same when it is written again`() throws {
        let record = VariantRecord(
            content: StoreKey(hashing: "content".utf8), format: .webp, size: PixelSize(width: 3, height: 2),
            sourceBytes: 1 << 33, digest: String(repeating: "a", count: 64))
        fuzzer.run("variant-record", bytes: [Array(record.bytes.readableBytesView)], words: ["webp", "jpeg", "png"]) {
            input in
            guard let record = VariantRecord(ByteBuffer(bytes: input)) else { return }
            try hold(VariantRecord(record.bytes) == record, "\(record)")
        }
    }

    private static func entryFile() throws -> [UInt8] {
        let entry = StoredEntry(body: ByteBuffer(string: "body"), metadata: ByteBuffer(string: "metadata"))
        let labels = try #require(EntryLabels(["url:https://a.org/"]))
        let key = EntryKey(source: StoreKey(hashing: "source".utf8), entry: StoreKey(hashing: "entry".utf8))
        let head = EntryHeader(of: entry, labels: labels, key: key, created: 1, modified: 2)
        return [head.bytes, entry.metadata, entry.body].flatMap { Array($0.readableBytesView) }
    }

    private static func sourceRecord() -> [UInt8] {
        let response = StoredResponse(
            status: 200, fields: [.eTag: "\"a\"", .cacheControl: "max-age=60", .vary: "Accept"], sent: [.accept: "*/*"],
            requestedAt: Date(timeIntervalSince1970: 1_795_000_000),
            receivedAt: Date(timeIntervalSince1970: 1_795_000_001))
        let record = SourceRecord(
            url: "https://a.org/", host: "a.org", answeredURL: "https://b.org/", response: response,
            content: StoreKey(hashing: "content".utf8), policy: FreshnessPolicy())
        return Array(record.bytes.readableBytesView)
    }
}
