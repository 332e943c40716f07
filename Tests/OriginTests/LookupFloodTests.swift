import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// Plays a minute in which 50 lookups per second hang, as the resolver would drive the schedule, and counts how lookups
/// of names that answer fare.
private struct LookupFlood {
    private enum Event {
        case leaveQueue(call: Int, name: String)
        case giveUp(call: Int, name: String)
        case finish(name: String)
    }

    private var schedule = LookupSchedule()
    private var events: [Int: [Event]] = [:]
    private let start = ContinuousClock.now
    private var lastCall = 0

    private(set) var mostRunning = 0
    private(set) var mostWaiting = 0
    /// Names that answer, which got a thread or an answer at once.
    private(set) var goodAtOnce = 0
    private(set) var goodDelayed = 0

    /// - Parameter attack: the name and the client of the n-th lookup that hangs.
    mutating func run(attack: (Int) -> (name: String, client: String)) {
        for tick in stride(from: 0, to: 60_000, by: 10) {
            for event in events.removeValue(forKey: tick) ?? [] { handle(event, tick) }
            if tick % 20 == 0 {
                let (name, client) = attack(tick / 20)
                _ = request(name, client, tick)
            }
            if tick % 100 == 0 {
                let isWaiting = request("img.good\(tick).example", "visitor", tick) == .wait
                goodAtOnce += isWaiting ? 0 : 1
                goodDelayed += isWaiting ? 1 : 0
            }
            mostRunning = max(mostRunning, schedule.runningCount)
            mostWaiting = max(mostWaiting, schedule.callCount)
        }
    }

    private func time(_ tick: Int) -> ContinuousClock.Instant { start + .milliseconds(tick) }

    private mutating func request(_ name: String, _ client: String, _ tick: Int) -> LookupSchedule.Step {
        lastCall += 1
        let step = schedule.add(lastCall, for: name, client: client, at: time(tick))
        if step == .start { begin(name, tick) }
        events[tick + 2000, default: []].append(.leaveQueue(call: lastCall, name: name))
        events[tick + 5000, default: []].append(.giveUp(call: lastCall, name: name))
        return step
    }

    private mutating func begin(_ name: String, _ tick: Int) {
        let milliseconds = name.hasPrefix("img.good") ? 50 : 10_000
        events[tick + milliseconds, default: []].append(.finish(name: name))
    }

    private mutating func handle(_ event: Event, _ tick: Int) {
        switch event {
        case .leaveQueue(let call, let name): _ = schedule.remove(call, for: name, ifQueued: true)
        case .giveUp(let call, let name): _ = schedule.giveUp(call, for: name, at: time(tick))
        case .finish(let name):
            _ = schedule.finish(name, name.hasPrefix("img.good") ? [.v4(0x0909_0909)] : [], at: time(tick))
            while let next = schedule.startNext(at: time(tick)) { begin(next, tick) }
        }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct LookupFloodTests {
    /// A number sign stands for the number of the lookup.
    @Test(
        arguments: [
            ("#.evil.test", "attacker", 5, 120), ("#.evil.test", "attacker #", 5, 120),
            ("www.evil#.test", "attacker", 33, 140), ("www.evil.test", "attacker #", 2, 257),
        ])
    func `Lookups that never answer do not delay a lookup that does`(
        name: String, client: String, threads: Int, waiting: Int
    ) {
        var play = LookupFlood()
        play.run { (name.replacing("#", with: "\($0)"), client.replacing("#", with: "\($0)")) }
        #expect(play.goodDelayed == 0)
        #expect(play.goodAtOnce == 600)
        #expect(play.mostRunning <= threads)
        #expect(play.mostWaiting <= waiting)
    }
}
