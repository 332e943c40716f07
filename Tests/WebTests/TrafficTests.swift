import Testing

@testable import Web

struct TrafficTests {
    @Test func `without requests draining ends at once`() async {
        let traffic = Traffic()
        #expect(!traffic.isDraining)
        await traffic.drain()
        #expect(traffic.isDraining)
    }

    @Test func `draining ends with the last request under way`() async {
        let traffic = Traffic()
        traffic.begin()
        traffic.begin()
        let left = Task {
            await traffic.drain()
            return traffic.underWay
        }
        while !traffic.isDraining { await Task.yield() }
        traffic.end()
        // Whoever is resumed too early has its turn here.
        for _ in 0..<1_000 { await Task.yield() }
        traffic.end()
        #expect(await left.value == 0)
    }

    @Test func `draining ends when its task is cancelled, before or after it began`() async {
        for isEarly in [true, false] {
            let traffic = Traffic()
            traffic.begin()
            let drained = Task { await traffic.drain() }
            while !isEarly, !traffic.isDraining { await Task.yield() }
            drained.cancel()
            await drained.value
            #expect(traffic.isDraining)
            traffic.end()
        }
    }
}
