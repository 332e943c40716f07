import Testing

@testable import DarkroomWeb

struct TrafficTests {
    @Test func `requests count from their beginning to their end, also when the server goes down`() {
        let traffic = Traffic()
        traffic.begin()
        traffic.begin()
        #expect(!traffic.isDraining)
        traffic.drain()
        #expect(traffic.isDraining)
        traffic.end()
        #expect(traffic.underWay == 1)
    }
}
