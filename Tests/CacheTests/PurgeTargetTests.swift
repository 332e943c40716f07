import DarkroomNetwork
import NIOCore
import Testing

@testable import DarkroomCache

/// Purges as other servers read them.
struct PurgeTargetTests {
    @Test func `A message is the same purge when it is read again`() throws {
        let source = try SourceURL(parsing: "https://example.com/a.png")
        let targets = [.source(source), .prefix("https://a/"), .host("a"), .tag("a"), .everything] as [PurgeTarget]
        for target in targets {
            let message = try #require(PurgeMessage(PurgeMessage(target, isSoft: true).bytes))
            #expect(message.target == target && message.isSoft)
        }
    }

    @Test func `A message with a value that is longer than any URL is refused`() {
        let longest = String(repeating: "a", count: SourceURL.maximumBytes)
        #expect(PurgeMessage(PurgeMessage(.tag(longest), isSoft: false).bytes)?.target == .tag(longest))
        for target in [.tag(longest + "a"), .prefix(longest + "a"), .host(longest + "a")] as [PurgeTarget] {
            #expect(PurgeMessage(PurgeMessage(target, isSoft: false).bytes) == nil)
        }
        #expect(PurgeMessage(ByteBuffer(string: "{}")) == nil)
    }
}
