import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting
import Testing

@testable import DarkroomPipeline

/// ``Admission`` keeps urgencies, shares and sums; ``ScanningAdmission`` derives them each time. They must agree.
struct AdmissionModelTests {
    @Test(arguments: UInt64(0)..<24)
    func `Random moves lead to the same decisions as looking at all jobs`(seed: UInt64) {
        var duel = AdmissionDuel(seed: seed, clients: 12, queueLength: seed.isMultiple(of: 2) ? 12 : 60)
        duel.play(1500)
        var kinds = AdmissionDuel.kinds
        // In the long queue, a weighed job waits at almost any time.
        if seed.isMultiple(of: 2) { kinds.insert("done while weighed") }
        let (differences, missing) = (duel.differences, kinds.subtracting(duel.seen))
        #expect(differences == [])
        #expect(missing.isEmpty, "the moves must lead to decisions of all kinds")
    }

    @Test func `Decisions are the same while more clients come than are tracked`() {
        var duel = AdmissionDuel(seed: 7, clients: 3 * FairShares.maxClients, queueLength: 20)
        duel.play(40_000)
        let differences = duel.differences
        #expect(differences == [])
    }
}

/// Makes the same random moves with both forms of the policy.
private struct AdmissionDuel {
    static let kinds: Set<String> = [
        "waits", "displaces", "refused full", "refused tooLate", "run", "weigh", "nothing", "expired",
    ]

    private(set) var differences: [String] = []
    /// The kinds of decisions so far.
    private(set) var seen: Set<String> = []
    private var random: SeededGenerator
    private var admission: Admission
    private var model: ScanningAdmission
    private let clients: Int
    private var now = ContinuousClock.now
    private var lastNumber = 0
    private var urgencies: [Urgency] = []
    private var weighing: [Int] = []
    /// The memory that is set aside for the jobs that are weighed.
    private var allowances: [Int: Int] = [:]
    private var running: [Int] = []

    init(seed: UInt64, clients: Int, queueLength: Int) {
        random = SeededGenerator(seed: seed)
        let capacity = Admission.Capacity(threads: 3, queueLength: queueLength, memoryBudgetBytes: 100)
        admission = Admission(capacity: capacity)
        model = ScanningAdmission(capacity: capacity)
        self.clients = clients
    }

    /// Stops at the first difference.
    mutating func play(_ moves: Int) {
        for _ in 0..<moves where differences.isEmpty { move() }
    }

    private mutating func move() {
        now += .milliseconds(Int.random(in: 0...40, using: &random))
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7: arrive()
        case 7: askForRefusal()
        case 8: expire()
        case 9..<13: start()
        case 13, 14: weigh()
        case 15..<18: finish()
        case 18: raise()
        default: remove()
        }
        compareStates()
    }

    // MARK: Moves

    private mutating func urgency() -> Urgency {
        // Few clients send most of the requests.
        let client = Int(
            Double(clients) * Double.random(in: 0..<1, using: &random) * .random(in: 0..<1, using: &random))
        let patience =
            Bool.random(using: &random) ? Duration.milliseconds(Int.random(in: 20...4000, using: &random)) : nil
        let level =
            [.background, .low, .normal, .normal, .normal, .high].randomElement(using: &random) ?? Priority.normal
        return Urgency(level, client: "\(client)", deadline: patience.map { now + $0 })
    }

    private mutating func arrive() {
        lastNumber += 1
        let urgency = urgency()
        if Int.random(in: 0..<4, using: &random) == 0 { self.urgency().donate(to: urgency) }
        urgencies = urgencies.suffix(30) + [urgency]
        let weight = Int.random(in: 0..<10, using: &random) == 0 ? weight() : nil
        let job = Admission.Job(number: lastNumber, urgency: urgency, weight: weight)
        decide("arrival", Self.text(admission.admit(job, at: now)), Self.text(model.admit(job, at: now)))
    }

    private mutating func askForRefusal() {
        let (urgency, others) = (urgency(), Int.random(in: 0...20, using: &random))
        let refusal = admission.refusal(of: urgency, behind: others, at: now)
        compare("refusal", refusal, model.refusal(of: urgency, behind: others, at: now))
    }

    private mutating func expire() {
        let expired = admission.removeExpired(at: now).map(\.number)
        if !expired.isEmpty { seen.insert("expired") }
        compare("expired", expired, model.removeExpired(at: now).map(\.number).sorted())
    }

    private mutating func start() {
        let step = admission.next()
        decide("step", Self.text(step), Self.text(model.next()))
        switch step {
        case .run(let job): running.append(job.number)
        case .weigh(let job):
            weighing.append(job.number)
            allowances[job.number] = job.allowedBytes
        case .nothing: break
        }
    }

    private mutating func weigh() {
        guard let number = take(from: \.weighing) else { return }
        if Int.random(in: 0..<10, using: &random) == 0 {
            admission.abandon(number)
            model.abandon(number)
            return
        }
        let weight = weight()
        if weight.bytes <= (allowances[number] ?? 0), Int.random(in: 0..<4, using: &random) > 0 {
            seen.insert("done while weighed")
            admission.finish(number, weight, tookSeconds: 0.1)
            model.finish(number, weight, tookSeconds: 0.1)
            return
        }
        let runs = admission.weighed(number, weight)
        compare("weighed \(number)", runs, model.weighed(number, weight))
        if runs { running.append(number) }
    }

    private mutating func finish() {
        guard let number = take(from: \.running) else { return }
        let (seconds, isWhole) = (Double.random(in: 0.001...0.3, using: &random), Bool.random(using: &random))
        admission.finish(number, tookSeconds: seconds, wasCompleted: isWhole)
        model.finish(number, tookSeconds: seconds, wasCompleted: isWhole)
    }

    private mutating func raise() {
        guard let urgency = urgencies.randomElement(using: &random) else { return }
        if Bool.random(using: &random) {
            urgency.raise(to: .high)
        } else {
            self.urgency().donate(to: urgency)
        }
    }

    private mutating func remove() {
        let number = Int.random(in: max(0, lastNumber - 40)...lastNumber, using: &random)
        compare("removal", admission.remove(number)?.number, model.remove(number)?.number)
    }

    private mutating func take(from list: WritableKeyPath<Self, [Int]>) -> Int? {
        guard let index = self[keyPath: list].indices.randomElement(using: &random) else { return nil }
        return self[keyPath: list].remove(at: index)
    }

    private mutating func weight() -> JobWeight {
        let isHeavy = Int.random(in: 0..<3, using: &random) == 0
        return JobWeight(
            bytes: Int.random(in: isHeavy ? 50...150 : 1...40, using: &random),
            work: Double.random(in: 1...200, using: &random),
            isUnpredictable: Int.random(in: 0..<5, using: &random) == 0)
    }

    // MARK: Comparison

    private mutating func decide(_ name: String, _ decision: String, _ expected: String) {
        seen.insert(decision.split(separator: " ").filter { Int($0) == nil }.joined(separator: " "))
        compare(name, decision, expected)
    }

    private mutating func compare<Value: Equatable>(_ name: String, _ found: Value, _ expected: Value) {
        if found != expected { differences.append("\(name) after \(lastNumber): \(found) instead of \(expected)") }
    }

    private mutating func compareStates() {
        let jobs = admission.waiting.jobs
        let expected = model.waiting.sorted { $0.number < $1.number }
        compare("waiting", jobs.map(\.number), expected.map(\.number))
        compare("overtaken", jobs.map(\.timesOvertaken), expected.map(\.timesOvertaken))
        compare("bytes", admission.waiting.bytes, model.waitingBytes)
        compare("running", admission.runningBytes, model.runningBytes)
        compare("retry", admission.retryAfterSeconds, model.retryAfterSeconds)
        let newcomer = urgency()
        let refusal = admission.refusal(of: newcomer, behind: 0, at: now)
        compare("refusal", refusal, model.refusal(of: newcomer, behind: 0, at: now))
        let (seconds, exact) = (admission.secondsBefore(newcomer), model.secondsBefore(newcomer))
        if abs(seconds - exact) > 1e-9 { compare("wait", seconds, exact) }
    }

    private static func text(_ outcome: Admission.Outcome) -> String {
        switch outcome {
        case .waits: "waits"
        case .displaces(let job): "displaces \(job.number)"
        case .refused(let refusal): "refused \(refusal)"
        }
    }

    private static func text(_ step: Admission.Step) -> String {
        switch step {
        case .run(let job): "run \(job.number)"
        case .weigh(let job): "weigh \(job.number) \(job.allowedBytes)"
        case .nothing: "nothing"
        }
    }
}
