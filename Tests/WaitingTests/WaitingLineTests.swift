import Testing

@testable import DarkroomWaiting

struct WaitingLineTests {
    private final class Member: WaitingLineMember {
        let number: Int
        var client: String
        let level: Int

        init(_ number: Int, _ client: String, _ level: Int) {
            self.number = number
            self.client = client
            self.level = level
        }
    }

    private func line(_ members: [(client: String, level: Int)]) -> WaitingLine<Member> {
        var line = WaitingLine<Member>()
        for (index, member) in members.enumerated() { line.append(Member(index + 1, member.client, member.level)) }
        return line
    }

    @Test func `The waiter with the lowest rank is first, and one without a rank waits longer`() {
        let line = line([("a", 3), ("b", 1), ("c", 2)])
        #expect(line.first { $0.level }?.index == 1)
        #expect(line.first { $0.client == "b" ? nil : $0.level }?.index == 2)
        #expect(line.first { _ in Int?.none } == nil)
    }

    @Test func `A newcomer takes the newest place of the lowest level below its own`() {
        let line = line([("a", 1), ("a", 0), ("a", 0), ("b", 1)])
        #expect(line.victim(for: ["c"], at: 1) == 2)
        #expect(line.victim(for: ["a"], at: 1) == 2)
    }

    @Test func `Among equals a newcomer takes the newest place of the client with the most`() {
        let line = line([("a", 1), ("a", 1), ("b", 1), ("a", 1), ("b", 1)])
        #expect(line.victim(for: ["c"], at: 1) == 3)
        #expect(line.victim(for: ["a"], at: 1) == nil)
        #expect(line.victim(for: ["b"], at: 1) == nil)
        #expect(line.victim(for: ["c", "a"], at: 1) == nil)
        #expect(line.victim(for: ["c"], at: 0) == nil)
    }

    @Test func `Waiters that leave or count for another client no longer take a share`() {
        var line = line([("a", 1), ("a", 1), ("a", 1), ("b", 1), ("b", 1)])
        #expect(line.remove(3)?.client == "a")
        #expect(line.remove(3) == nil)
        #expect(line.victim(for: ["c"], at: 1) == 3)
        let first = line.members[0]
        line.change(first) { first.client = "b" }
        #expect(line.victim(for: ["a"], at: 1) == 3)
        #expect(line.victim(for: ["b"], at: 1) == nil)
        #expect(line.count == 4)
    }
}
