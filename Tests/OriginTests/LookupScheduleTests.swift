import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

/// A schedule with times in seconds, whose methods can be called within expectations.
private final class TimedSchedule {
    private var schedule: LookupSchedule
    private let start = ContinuousClock.now

    init(_ limits: LookupLimits) { schedule = LookupSchedule(limits: limits) }

    var runningCount: Int { schedule.runningCount }
    var callCount: Int { schedule.callCount }

    private func time(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    func remembered(_ name: String, at seconds: Double = 0) -> LookupSchedule.Answer? {
        schedule.remembered(name, at: time(seconds))
    }

    func add(_ call: Int, for name: String, client: String = "", at seconds: Double = 0) -> LookupSchedule.Step {
        schedule.add(call, for: name, client: client, at: time(seconds))
    }

    /// Adds calls, numbered from 1.
    func add(_ calls: [(name: String, client: String)]) -> [LookupSchedule.Step] {
        zip(1..., calls).map { add($0, for: $1.name, client: $1.client) }
    }

    func remove(_ call: Int, for name: String, ifQueued: Bool = false) -> Bool {
        schedule.remove(call, for: name, ifQueued: ifQueued)
    }

    @discardableResult
    func giveUp(_ call: Int, for name: String) -> [Int] { schedule.giveUp(call, for: name, at: start) }

    @discardableResult
    func finish(
        _ name: String, _ addresses: [IPAddress] = [], at seconds: Double = 0
    ) -> (calls: [Int], answer: LookupSchedule.Answer) {
        schedule.finish(name, addresses, at: time(seconds))
    }

    func startNext() -> String? { schedule.startNext(at: start) }
}

@Suite(.timeLimit(.minutes(5)))
struct LookupScheduleTests {
    private static let hung = LookupSchedule.Step.answered(.failure(.timedOut(.lookup)))
    private static let full = LookupSchedule.Step.answered(.failure(.timedOut(.waiting)))
    private static let addresses = [IPAddress.v4(0x0909_0909)]

    private func schedule(_ change: (inout LookupLimits) -> Void = { _ in }) -> TimedSchedule {
        var limits = LookupLimits()
        change(&limits)
        return TimedSchedule(limits)
    }

    @Test func `Calls for one name share a lookup, and all get its answer`() {
        let schedule = schedule()
        let steps = schedule.add([("a.test", "x"), ("a.test", "y"), ("a.test", "x")])
        #expect(steps == [.start, .wait, .wait])
        let ended = schedule.finish("a.test", Self.addresses)
        #expect(ended.calls == [1, 2, 3] && ended.answer == .success(Self.addresses))
        #expect(schedule.runningCount == 0 && schedule.callCount == 0)
    }

    @Test func `A registered domain occupies at most its share of threads, for all clients together`() {
        let schedule = schedule { $0.threadsPerDomain = 2 }
        let calls = (1...4).map { ("\($0).a.co.uk", "client \($0)") } + [("b.co.uk", "x")]
        #expect(schedule.add(calls) == [.start, .start, .wait, .wait, .start])
        schedule.finish("1.a.co.uk")
        #expect(schedule.startNext() == "3.a.co.uk")
        #expect(schedule.startNext() == nil)
    }

    @Test func `A client occupies at most half of the threads, and the next one half of what is left`() {
        let schedule = schedule { $0.threads = 8 }
        var counts = ["a": 0, "b": 0, "c": 0, "d": 0]
        var call = 0
        for client in ["a", "b", "c", "d"] {
            for number in 1...9 {
                call += 1
                let step = schedule.add(call, for: "\(client)\(number).test", client: client)
                if step == .start { counts[client, default: 0] += 1 }
            }
        }
        #expect(counts == ["a": 4, "b": 2, "c": 1, "d": 1])
        #expect(schedule.runningCount == 8)
    }

    @Test func `A lookup that waits for the share of one client starts for another client`() {
        let schedule = schedule { $0.threads = 4 }
        let calls = [("1.a", "greedy"), ("2.b", "greedy"), ("good.test", "greedy"), ("good.test", "visitor")]
        #expect(schedule.add(calls) == [.start, .start, .wait, .start])
        #expect(schedule.finish("good.test", Self.addresses).calls == [3, 4])
    }

    @Test func `A free thread goes to the client with the fewest lookups, then to the call that has waited longest`() {
        let schedule = schedule { $0.threadsPerDomain = 1 }
        let greedy = ["1.a.test", "other.test", "2.a.test"].map { (name: $0, client: "greedy") }
        #expect(schedule.add(greedy) == [.start, .start, .wait])
        #expect(schedule.add(4, for: "3.a.test", client: "first visitor") == .wait)
        #expect(schedule.add(5, for: "4.a.test", client: "second visitor") == .wait)
        for (finished, next) in [("1.a.test", "3.a.test"), ("3.a.test", "4.a.test"), ("4.a.test", "2.a.test")] {
            schedule.finish(finished, Self.addresses)
            #expect(schedule.startNext() == next)
            #expect(schedule.startNext() == nil)
        }
    }

    @Test(
        arguments: [
            ("addresses", 5, .answered(.success(Self.addresses))),
            ("failure", 2, .answered(.failure(.unreachable(.dns)))), ("hang", 10, Self.hung),
        ] as [(String, Double, LookupSchedule.Step)])
    func `Results are remembered for a time`(outcome: String, seconds: Double, answer: LookupSchedule.Step) {
        let schedule = schedule()
        _ = schedule.add(1, for: "a.test")
        if outcome == "hang" { #expect(schedule.giveUp(1, for: "a.test") == [1]) }
        schedule.finish("a.test", outcome == "addresses" ? Self.addresses : [])
        #expect(schedule.add(2, for: "a.test", at: seconds - 0.001) == answer)
        #expect(schedule.add(3, for: "a.test", at: seconds) == .start)
    }

    @Test func `A result of very many addresses is not remembered`() {
        let schedule = schedule { $0.rememberedAddresses = 2 }
        for (count, isRemembered) in [(2, true), (3, false)] {
            _ = schedule.add(count, for: "\(count).test")
            let addresses = (0..<count).map { IPAddress.v4(UInt32($0)) }
            #expect(schedule.finish("\(count).test", addresses).answer == .success(addresses))
            #expect((schedule.remembered("\(count).test") != nil) == isRemembered)
        }
    }

    @Test func `A name whose lookup was given up is refused while its thread is busy, and served if it answers late`() {
        let schedule = schedule()
        #expect(schedule.add([("a.test", "x"), ("a.test", "y")]) == [.start, .wait])
        #expect(schedule.giveUp(1, for: "a.test") == [1, 2])
        #expect(schedule.runningCount == 1 && schedule.callCount == 0)
        #expect(schedule.add(3, for: "a.test", client: "x", at: 60) == Self.hung)
        #expect(schedule.finish("a.test", Self.addresses, at: 60).calls == [])
        #expect(schedule.remembered("a.test", at: 60) == .success(Self.addresses))
        #expect(schedule.runningCount == 0)
    }

    @Test(
        arguments: [
            (["hang", "hang"], true), (["slow failure", "hang"], true), (["hang"], false),
            (["hang", "addresses", "hang"], false), (["hang", "quick failure", "hang"], false),
        ] as [([String], Bool)])
    func `A domain is refused once all of its threads hung in a row`(ends: [String], isRefused: Bool) {
        let schedule = schedule { $0.threadsPerDomain = 2 }
        for (call, end) in zip(1..., ends) {
            #expect(schedule.add(call, for: "\(call).a.test") == .start)
            if end == "hang" { schedule.giveUp(call, for: "\(call).a.test") }
            schedule.finish(
                "\(call).a.test", end == "addresses" ? Self.addresses : [], at: end == "slow failure" ? 1 : 0)
        }
        #expect(schedule.add(8, for: "new.a.test") == (isRefused ? Self.hung : .start))
        #expect(schedule.add(9, for: "b.test") == .start)
        #expect(schedule.add(10, for: "later.a.test", at: 11) == .start)
    }

    @Test func `Addresses that are remembered outlast their domain's hangs, and no waiting lookup of it starts`() {
        let schedule = schedule { $0.threadsPerDomain = 1 }
        _ = schedule.add(1, for: "good.a.test")
        schedule.finish("good.a.test", Self.addresses)
        #expect(schedule.add(2, for: "hung.a.test") == .start)
        #expect(schedule.add(3, for: "waits.a.test") == .wait)
        schedule.giveUp(2, for: "hung.a.test")
        schedule.finish("hung.a.test")
        #expect(schedule.startNext() == nil)
        #expect(schedule.add(4, for: "good.a.test") == .answered(.success(Self.addresses)))
    }

    @Test(
        arguments: [
            ("#.test", "one client", 2), ("#.a.test", "client #", 2), ("a.test", "client #", 2),
            ("#.test", "client #", 8),
        ])
    func `What waits is bounded per client, per domain and in all`(name: String, client: String, waits: Int) {
        let schedule = schedule { $0.calls = 8 }
        let calls = (1...9).map { number in
            (name.replacing("#", with: "\(number)"), client.replacing("#", with: "\(number)"))
        }
        let steps = schedule.add(calls)
        #expect(steps.prefix(waits).allSatisfy { $0 == .start || $0 == .wait })
        #expect(steps[waits] == Self.full)
        #expect(schedule.remove(1, for: calls[0].0))
        #expect(schedule.add(10, for: calls[waits].0, client: calls[waits].1) != Self.full)
    }

    @Test func `A call that is removed leaves its lookup to others, and a lookup without calls never starts`() {
        let schedule = schedule { $0.threads = 1 }
        let calls = [("runs.test", "a"), ("left.test", "a"), ("kept.test", "a"), ("kept.test", "b")]
        #expect(schedule.add(calls) == [.start, .wait, .wait, .wait])
        #expect(!schedule.remove(1, for: "runs.test", ifQueued: true))
        #expect(schedule.remove(2, for: "left.test", ifQueued: true))
        #expect(!schedule.remove(2, for: "left.test"))
        #expect(schedule.remove(3, for: "kept.test"))
        #expect(schedule.giveUp(4, for: "kept.test").isEmpty)
        #expect(schedule.finish("runs.test").calls == [1])
        #expect(schedule.startNext() == "kept.test")
        #expect(schedule.startNext() == nil)
        #expect(schedule.finish("kept.test").calls == [4])
    }
}

struct RegisteredDomainTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("a.example.com.", "example.com"),
        ("a.example.co.uk", "example.co.uk"), ("example.com.au", "example.com.au"), ("co.uk", "co.uk"),
        // Short names of owners are not labels of registries.
        ("a.b.ibm.com", "ibm.com"), ("a.b.abc.de", "abc.de"), ("a.co.example", "co.example"),
        ("a.b.github.io", "b.github.io"), ("github.io", "github.io"), ("a.b.kawasaki.jp", "a.b.kawasaki.jp"),
        ("x.city.kawasaki.jp", "city.kawasaki.jp"), ("a.b.xn--55qx5d.cn", "b.xn--55qx5d.cn"),
        ("localhost", "localhost"), ("a_b.test.", "a_b.test"), ("", ""), (".", ""),
    ])
    func `The registered domain is the label below a public suffix, and that suffix`(
        name: String, domain: String
    ) {
        #expect(registeredDomain(of: name) == domain)
    }
}

struct ExpiringTableTests {
    @Test func `A full table removes what has ended, then what ends next`() {
        let start = ContinuousClock.now
        var table = ExpiringTable<Int, String>(capacity: 8)
        for key in 0..<8 { table.set("\(key)", for: key, until: start + .seconds(key), at: start) }
        table.set("8", for: 8, until: start + .seconds(8), at: start + .seconds(2))
        #expect((0...8).filter { table.value(of: $0, at: start) != nil } == [3, 4, 5, 6, 7, 8])
        for key in 9...11 { table.set("\(key)", for: key, until: start + .seconds(key), at: start + .seconds(2)) }
        #expect((0...11).filter { table.value(of: $0, at: start) != nil } == [4, 5, 6, 7, 8, 9, 10, 11])
        #expect(table.count == 8)
    }
}
