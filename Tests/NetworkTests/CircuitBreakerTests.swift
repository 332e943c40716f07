import Testing

@testable import DarkroomNetwork

struct CircuitBreakerTests {
    enum Step: Sendable {
        /// Attempts by as many requests one after the other.
        case fail(Int)
        case answer
        case giveUp
        case wait(Duration)
        /// The next request takes the probe and has not ended yet.
        case probe
        case probeFails, probeAnswers, probeGivesUp
        /// The end of an attempt that began before any outage.
        case lateFailure, lateAnswer
    }

    /// The answer to the next request.
    enum Verdict: Equatable, Sendable {
        case asOften
        case asProbe
        case not(Duration)
    }

    private struct Trial {
        var breaker = CircuitBreaker()
        var now = ContinuousClock.now
        var tickets: UInt64 = 0
        var probe = CircuitBreaker.Permit.ordinary
        var random = 0.5

        mutating func admit() -> CircuitBreaker.Admission {
            tickets += 1
            return breaker.admit(at: now, ticket: tickets)
        }

        mutating func settle(_ permit: CircuitBreaker.Permit, _ outcome: CircuitBreaker.Outcome) {
            _ = breaker.record(outcome, of: permit, at: now, random: random)
        }

        mutating func run(_ outcome: CircuitBreaker.Outcome) {
            guard case .granted(let permit) = admit() else { return }
            settle(permit, outcome)
        }

        mutating func follow(_ step: Step) {
            switch step {
            case .fail(let count): for _ in 0..<count { run(.failed) }
            case .answer: run(.answered)
            case .giveUp: run(.inconclusive)
            case .wait(let duration): now += duration
            case .probe: if case .granted(let permit) = admit() { probe = permit }
            case .probeFails: settle(probe, .failed)
            case .probeAnswers: settle(probe, .answered)
            case .probeGivesUp: settle(probe, .inconclusive)
            case .lateFailure: settle(.ordinary, .failed)
            case .lateAnswer: settle(.ordinary, .answered)
            }
        }

        mutating func verdict() -> Verdict {
            switch admit() {
            case .granted(.ordinary): .asOften
            case .granted(.probe): .asProbe
            case .refused(let wait): .not(wait)
            }
        }
    }

    @Test(
        "the answer to the next request",
        arguments: [
            ("a host that is new may be asked", [], .asOften),
            ("four failures are tolerable", [.fail(4)], .asOften),
            ("five are not", [.fail(5)], .not(.seconds(1))),
            ("an answer in between restarts the count", [.fail(4), .answer, .fail(4)], .asOften),
            (
                "an inconclusive outcome neither counts nor restarts the count", [.fail(2), .giveUp, .fail(3)],
                .not(.seconds(1))
            ),
            ("the rest runs", [.fail(5), .wait(.milliseconds(999))], .not(.milliseconds(1))),
            ("the first after it is the probe", [.fail(5), .wait(.seconds(1))], .asProbe),
            ("there is one probe at a time", [.fail(5), .wait(.seconds(9)), .probe], .not(.seconds(1))),
            ("its answer reopens the host", [.fail(5), .wait(.seconds(1)), .probe, .probeAnswers], .asOften),
            ("its failure doubles the rest", [.fail(5), .wait(.seconds(1)), .probe, .probeFails], .not(.seconds(2))),
            (
                "a probe that was given up may be taken again", [.fail(5), .wait(.seconds(1)), .probe, .probeGivesUp],
                .asProbe
            ),
            (
                "late failures do not lengthen the rest", [.fail(5), .wait(.milliseconds(500)), .lateFailure],
                .not(.milliseconds(500))
            ),
            (
                "late failures do not end a probe", [.fail(5), .wait(.seconds(1)), .probe, .lateFailure],
                .not(.seconds(1))
            ),
            ("a late answer ends the rest", [.fail(5), .lateAnswer], .asOften),
            (
                "a late answer ends a probe's time, and the probe is one of many",
                [.fail(5), .wait(.seconds(1)), .probe, .lateAnswer, .probeFails], .asOften
            ),
            (
                "an answer ends the doubling",
                [.fail(5), .wait(.seconds(1)), .probe, .probeFails, .lateAnswer, .fail(5)], .not(.seconds(1))
            ),
            (
                "an old probe says nothing about a new outage",
                [.fail(5), .wait(.seconds(1)), .probe, .lateAnswer, .fail(5), .probeFails], .not(.seconds(1))
            ),
        ] as [(String, [Step], Verdict)])
    func table(sentence: String, steps: [Step], expected: Verdict) {
        var trial = Trial()
        for step in steps { trial.follow(step) }
        #expect(trial.verdict() == expected, "\(sentence)")
    }

    @Test func `Rests double up to a minute`() {
        var trial = Trial()
        trial.follow(.fail(5))
        var rests: [Duration] = []
        for _ in 0..<9 {
            guard case .not(let rest) = trial.verdict() else { break }
            rests.append(rest)
            for step in [.wait(rest), .probe, .probeFails] as [Step] { trial.follow(step) }
        }
        #expect(rests == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    }

    @Test(arguments: [(0, Duration.milliseconds(800)), (0.5, .seconds(1)), (1, .milliseconds(1200))])
    func `Rests differ by a fifth either way`(random: Double, rest: Duration) {
        var trial = Trial()
        trial.random = random
        trial.follow(.fail(5))
        guard case .not(let actual) = trial.verdict() else {
            Issue.record("not open")
            return
        }
        #expect(abs((actual - rest) / .seconds(1)) < 1e-9)
    }

    @Test func `Only the first and the last of an outage are worth telling`() {
        var breaker = CircuitBreaker()
        var now = ContinuousClock.now
        for _ in 0..<4 { #expect(breaker.record(.failed, of: .ordinary, at: now, random: 0.5) == nil) }
        #expect(
            breaker.record(.failed, of: .ordinary, at: now, random: 0.5) == .outageBegan(pause: .seconds(1)))
        now += .seconds(1)
        guard case .granted(let probe) = breaker.admit(at: now, ticket: 1) else {
            Issue.record("no probe")
            return
        }
        #expect(breaker.record(.failed, of: probe, at: now, random: 0.5) == nil)
        #expect(breaker.record(.answered, of: .ordinary, at: now, random: 0.5) == .outageEnded)
        #expect(breaker.isHealthy)
    }
}
