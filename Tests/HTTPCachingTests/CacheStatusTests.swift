import DarkroomHTTPCaching
import StructuredFieldValues
import Testing

struct CacheStatusTests {
    @Test(arguments: [
        (CacheStatus(cache: "darkroom", .hit, detail: "memory"), "darkroom;hit;detail=memory"),
        (CacheStatus(cache: "darkroom", .forwarded(.varyMiss)), "darkroom;fwd=vary-miss"),
        (
            CacheStatus(
                cache: "darkroom", .forwarded(.miss), isStored: true, isCollapsed: true, detail: "original-disk"),
            "darkroom;fwd=miss;stored;collapsed;detail=original-disk"
        ),
        (CacheStatus(cache: "darkroom", .hit, ttl: -7), "darkroom;hit;ttl=-7"),
        (
            CacheStatus(
                cache: "darkroom", .forwarded(.stale), forwardStatus: 304, ttl: 60, isStored: true, detail: "memory"),
            "darkroom;fwd=stale;fwd-status=304;ttl=60;stored;detail=memory"
        ),
    ])
    func `A status is one line`(status: CacheStatus, text: String) {
        #expect(status.description == text)
    }

    @Test func `The line is a structured field with the parameters of RFC 9211`() throws {
        struct Member: Codable {
            struct Parameters: Codable {
                var fwd: String?
                var stored: Bool?
                var collapsed: Bool?
                var detail: String?
            }
            var item: String
            var parameters: Parameters
        }
        struct Field: StructuredFieldValue {
            static let structuredFieldType = StructuredFieldType.list
            var items: [Member]
        }
        let status = CacheStatus(
            cache: "darkroom", .forwarded(.miss), isStored: true, isCollapsed: true, detail: "original-disk")
        let text = Array(status.description.utf8)
        let member = try #require(StructuredFieldValueDecoder().decode(Field.self, from: text).items.first)
        #expect(member.item == "darkroom")
        #expect(member.parameters.fwd == "miss")
        #expect(member.parameters.stored == true)
        #expect(member.parameters.collapsed == true)
        #expect(member.parameters.detail == "original-disk")
    }

    @Test(arguments: ["", "1st", "a b", "a;hit", "a\"", "é", "a\n", "a=b"])
    func `Only tokens are names`(text: String) {
        #expect(CacheStatus.Name(text) == nil)
    }
}
