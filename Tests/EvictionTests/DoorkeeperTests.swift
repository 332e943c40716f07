import DarkroomTestRandom
import Testing

@testable import DarkroomEviction

@Suite struct DoorkeeperTests {
    @Test func `A key is known from its second time on`() {
        var doorkeeper = Doorkeeper(places: 8)
        #expect(doorkeeper.knows(3) == false)
        #expect(doorkeeper.knows(3) == true)
        #expect(doorkeeper.knows(3) == true)
        #expect(doorkeeper.knows(4) == false)
    }

    @Test func `A key is forgotten when another takes its place`() {
        var doorkeeper = Doorkeeper(places: 8)
        _ = doorkeeper.knows(3)
        #expect(doorkeeper.knows(3 | 2 << 56) == false)
        #expect(doorkeeper.knows(3) == false)
    }

    @Test func `No key is known at first, and one place is enough`() {
        for hash in [UInt64.min, .max, 1 << 48] {
            var doorkeeper = Doorkeeper(places: 0)
            #expect(doorkeeper.knows(hash) == false)
            #expect(doorkeeper.knows(hash) == true)
        }
    }

    @Test func `Keys that come once are hardly ever taken for others`() {
        var doorkeeper = Doorkeeper(places: 1 << 10)
        var random = SeededRandom(seed: 7)
        let taken = (0..<20_000).count { _ in doorkeeper.knows(random.next()) }
        #expect(taken <= 5)
    }
}
