import DarkroomRequests
import DarkroomTransforms
import Testing

@testable import DarkroomPipeline

/// The admission policy, as a table of moves.
final class AdmissionTests {
    private let start = ContinuousClock.now
    private var admission: Admission
    private var lastNumber = 0

    init() {
        admission = Self.admission()
    }

    private static func admission(threads: Int = 1, places: Int = 100, budget: Int = 100) -> Admission {
        Admission(capacity: Admission.Capacity(threads: threads, queueLength: places, memoryBudgetBytes: budget))
    }

    /// Admits a job; nil `bytes` = it has not been weighed.
    @discardableResult
    private func arrive(
        _ client: String = "", _ level: Priority = .normal, bytes: Int? = 1, within patience: Duration? = nil
    ) -> Admission.Outcome {
        lastNumber += 1
        let urgency = Urgency(level, client: client, deadline: patience.map { start + $0 })
        let weight = bytes.map { JobWeight(bytes: $0, work: 50) }
        return admission.admit(Admission.Job(number: lastNumber, urgency: urgency, weight: weight), at: start)
    }

    private func next() -> Int? {
        switch admission.next() {
        case .run(let job), .weigh(let job): job.number
        case .nothing: nil
        }
    }

    private func weighed(_ number: Int, bytes: Int) -> Bool {
        admission.weighed(number, JobWeight(bytes: bytes, work: 50))
    }

    private func expired(after time: Duration) -> [Int] { admission.removeExpired(at: start + time).map(\.number) }

    /// Runs jobs one after the other and returns their order.
    private func order(_ count: Int, seconds: Double = 0.1) -> [Int] {
        (0..<count).compactMap { _ in
            guard let number = next() else { return nil }
            admission.finish(number, tookSeconds: seconds)
            return number
        }
    }

    // MARK: Long jobs

    private func arrive(work: Double, isUnpredictable: Bool = false) {
        lastNumber += 1
        let weight = JobWeight(bytes: 1, work: work, isUnpredictable: isUnpredictable)
        _ = admission.admit(Admission.Job(number: lastNumber, urgency: Urgency(.normal), weight: weight), at: start)
    }

    @Test(arguments: [(threads: 1, long: 1, short: 1), (2, 1, 2), (3, 2, 2), (8, 7, 2)])
    func `Long jobs leave threads to others, even the only thread`(threads: Int, long: Int, short: Int) {
        admission = Self.admission(threads: threads)
        for number in 0..<20 { arrive(work: number.isMultiple(of: 2) ? 5000 : 1, isUnpredictable: number % 2 == 1) }
        #expect((0..<20).compactMap { _ in next() }.count == long)
        for _ in 0..<20 { arrive(work: 50) }
        #expect((0..<20).compactMap { _ in next() } == Array(21..<21 + short))
        for number in 1...long { admission.finish(number, tookSeconds: 5) }
        #expect(admission.freeThreads == threads - short)
    }

    @Test func `A long job that waits for a thread does not keep short ones from theirs, however many overtake it`() {
        admission = Self.admission(threads: 2)
        arrive(work: 5000)
        arrive(work: 5000)
        #expect(next() == 1)
        for number in 3...60 {
            arrive(work: 50)
            #expect(next() == number)
            admission.finish(number, tookSeconds: 0.05)
        }
        admission.finish(1, tookSeconds: 5)
        #expect(next() == 2)
    }

    @Test func `The time of drawings does not make other jobs look hopeless`() {
        let before = admission.throughput.seconds(JobWeight(bytes: 1, work: 50))
        for number in 1...20 {
            arrive(work: 50, isUnpredictable: true)
            #expect(next() == number)
            admission.finish(number, tookSeconds: 3)
        }
        #expect(admission.throughput.seconds(JobWeight(bytes: 1, work: 50)) == before)
    }

    @Test func `Jobs that fail while they are weighed do not make other jobs look hopeless`() {
        let before = admission.throughput.seconds(JobWeight(bytes: 1, work: 50))
        for number in 1...20 {
            arrive(bytes: nil)
            #expect(next() == number)
            admission.finish(number, .header, tookSeconds: 1.4)
        }
        #expect(admission.throughput.seconds(JobWeight(bytes: 1, work: 50)) == before)
    }

    @Test func `A job that proves long when it is weighed waits for another long one`() {
        admission = Self.admission(threads: 2)
        arrive(work: 5000)
        arrive(bytes: nil)
        let started = Set([next(), next()])
        #expect(started == [1, 2])
        let runs = admission.weighed(2, JobWeight(bytes: 1, work: 5000))
        #expect(!runs)
        #expect(next() == nil)
        admission.finish(1, tookSeconds: 5)
        #expect(next() == 2)
    }

    // MARK: Order

    @Test func `Jobs of higher priority go first, then older jobs`() {
        arrive("a", .low)
        arrive("a", .normal)
        arrive("a", .high)
        arrive("a", .normal)
        arrive("a", .background)
        #expect(order(5) == [3, 2, 4, 1, 5])
    }

    @Test func `A client with one job is served next, however many another client has waiting`() {
        for _ in 0..<50 { arrive("greedy") }
        #expect(order(3) == [1, 2, 3])
        arrive("polite")
        #expect(order(2).contains(51))
    }

    @Test func `Clients share time rather than jobs: a client with slow jobs gets fewer`() {
        for _ in 0..<40 { arrive("slow") }
        for _ in 0..<40 { arrive("quick") }
        var served = ["slow": 0, "quick": 0]
        for _ in 0..<44 {
            guard let number = next() else { continue }
            served[number <= 40 ? "slow" : "quick", default: 0] += 1
            admission.finish(number, tookSeconds: number <= 40 ? 1 : 0.1)
        }
        #expect((3...8).contains(served["slow"] ?? 0))
    }

    @Test func `An idle client earns no credit`() {
        for _ in 0..<20 { arrive("steady") }
        #expect(order(10).count == 10)
        for _ in 0..<10 { arrive("back") }
        let turns = order(8)
        #expect((3...5).contains(turns.count { $0 > 20 }))
    }

    @Test func `Shared work is charged to the waiter that was served least`() {
        for _ in 0..<10 { arrive("greedy") }
        #expect(order(4) == [1, 2, 3, 4])
        arrive("greedy")
        let shared = Urgency(.normal, client: "greedy")
        Urgency(.normal, client: "polite").donate(to: shared)
        _ = admission.admit(
            Admission.Job(number: 99, urgency: shared, weight: JobWeight(bytes: 1, work: 50)), at: start)
        #expect(order(2).contains(99))
    }

    // MARK: Memory

    private func nextAllowance() -> Int? {
        if case .weigh(let job) = admission.next() { job.allowedBytes } else { nil }
    }

    @Test func `Memory is set aside for a job that is weighed, unless a weighed job waits for memory`() {
        admission = Self.admission(threads: 4)
        for _ in 0..<3 { arrive(bytes: nil) }
        #expect(nextAllowance() == 25)
        #expect(nextAllowance() == 25)
        #expect(admission.runningBytes == 50)
        admission.finish(1, JobWeight(bytes: 10, work: 1), tookSeconds: 0.1)
        #expect(admission.runningBytes == 25)
        let runs = weighed(2, bytes: 90)
        #expect(runs && admission.runningBytes == 90)
        #expect(nextAllowance() == 0)
        #expect(!weighed(3, bytes: 20))
        admission.finish(2, tookSeconds: 0.1)
        arrive(bytes: nil)
        arrive("other", .high, bytes: nil)
        #expect(nextAllowance() == 0)
        #expect(admission.runningBytes == 0)
    }

    @Test func `Memory is set aside for a job that is weighed although a long job waits for a thread`() {
        admission = Self.admission(threads: 2)
        for _ in 0..<2 { arrive(work: 5000) }
        arrive(bytes: nil)
        #expect(next() == 1)
        #expect(nextAllowance() == 50)
    }

    @Test func `Running jobs fit the memory budget, and a job that exceeds it runs alone`() {
        admission = Self.admission(threads: 4)
        for bytes in [60, 60, 40, 200] { arrive(bytes: bytes) }
        #expect(next() == 1)
        #expect(next() == 3)
        #expect(next() == nil)
        #expect(admission.runningBytes == 100)
        admission.finish(1, tookSeconds: 0.1)
        #expect(next() == 2)
        #expect(next() == nil)
        admission.finish(2, tookSeconds: 0.1)
        #expect(next() == nil)
        admission.finish(3, tookSeconds: 0.1)
        #expect(next() == 4)
        arrive(bytes: 1)
        #expect(next() == nil)
        admission.finish(4, tookSeconds: 0.1)
        #expect(next() == 5)
    }

    @Test func `A heavy job is overtaken a limited number of times`() {
        admission = Self.admission(threads: 2)
        arrive(bytes: 50)
        #expect(next() == 1)
        arrive(bytes: 90)
        for _ in 0..<100 { arrive(bytes: 1) }
        var overtakings = 0
        while let light = next() {
            overtakings += 1
            admission.finish(light, tookSeconds: 0.1)
        }
        #expect(overtakings == Admission.maxOvertakings)
        admission.finish(1, tookSeconds: 0.1)
        #expect(next() == 2)
    }

    @Test func `A job that proves too heavy returns to its place`() {
        admission = Self.admission(threads: 3)
        arrive(bytes: 60)
        #expect(next() == 1)
        arrive(bytes: nil)
        arrive(bytes: nil)
        #expect(next() == 2)
        #expect(next() == 3)
        #expect(!weighed(2, bytes: 50))
        #expect(weighed(3, bytes: 40))
        #expect(admission.waiting.jobs.map(\.number) == [2])
        #expect(admission.waiting.bytes == 50)
        admission.finish(1, tookSeconds: 0.1)
        #expect(next() == 2)
    }

    // MARK: Refusals

    private func refusal(_ arrival: Admission.Outcome) -> Admission.Refusal? {
        if case .refused(let refusal) = arrival { refusal } else { nil }
    }

    private func victim(_ arrival: Admission.Outcome) -> Int? {
        if case .displaces(let job) = arrival { job.number } else { nil }
    }

    @Test func `A full queue refuses jobs, but a client with fewer takes the newest place of the client with most`() {
        admission = Self.admission(places: 4)
        arrive("greedy")
        #expect(next() == 1)
        for _ in 0..<4 { arrive("greedy") }
        #expect(refusal(arrive("greedy")) == .full)
        #expect(victim(arrive("polite")) == 5)
        #expect(victim(arrive("polite")) == 4)
        #expect(refusal(arrive("polite")) == .full)
        #expect(victim(arrive("third")) != nil)
    }

    @Test func `A full queue of background jobs has room for requests`() {
        admission = Self.admission(places: 2)
        for _ in 0..<3 { arrive("a", .background) }
        #expect(next() == 1)
        #expect(refusal(arrive("a", .background)) == .full)
        #expect(victim(arrive("a", .normal)) == 3)
    }

    @Test func `Only a job whose deadline would pass in the queue is refused at once`() {
        arrive()
        _ = next()
        admission.finish(1, tookSeconds: 0.1)
        for _ in 0..<100 { arrive("a") }
        let seconds = admission.secondsBefore(Urgency(.normal, client: "a"))
        #expect((9...11).contains(seconds))
        #expect(refusal(arrive("a", within: .seconds(seconds - 1))) == .tooLate)
        admission = Self.admission()
        arrive("a", within: .milliseconds(1))
        #expect(admission.waiting.count == 1)
    }

    @Test func `A client without waiting jobs has a short estimated wait`() {
        for _ in 0..<50 { arrive("greedy") }
        #expect(admission.secondsBefore(Urgency(.normal, client: "greedy")) > 4)
        #expect(admission.secondsBefore(Urgency(.normal, client: "polite")) < 0.2)
    }

    @Test func `A job that cannot finish before its deadline leaves the queue`() {
        arrive(within: .seconds(60))
        arrive(within: .seconds(1))
        arrive()
        #expect(expired(after: .milliseconds(500)).isEmpty)
        #expect(expired(after: .milliseconds(990)) == [2])
        #expect(admission.waiting.jobs.map(\.number) == [1, 3])
    }

    @Test func `Idle threads run jobs however slow recent work was, so that the estimate recovers`() {
        for _ in 0..<20 { arrive() }
        #expect(order(20, seconds: 60).count == 20)
        arrive(within: .seconds(10))
        #expect(expired(after: .seconds(4)).isEmpty)
        #expect(order(1, seconds: 0.01) == [21])
        arrive(within: .seconds(10))
        #expect(expired(after: .seconds(6)) == [22])
    }

    @Test func `A canceled job does not change the estimate`() {
        arrive()
        #expect(next() == 1)
        let before = admission.throughput.seconds(nil)
        admission.finish(1, tookSeconds: 0, wasCompleted: false)
        #expect(admission.throughput.seconds(nil) == before)
    }

    @Test func `Jobs that are being fetched count once the queue is half full`() {
        admission = Self.admission(places: 10)
        let newcomer = Urgency(.normal, client: "a")
        #expect(admission.refusal(of: newcomer, behind: 1000, at: start) == nil)
        for _ in 0..<5 { arrive("a") }
        #expect(admission.refusal(of: newcomer, behind: 4, at: start) == nil)
        #expect(admission.refusal(of: newcomer, behind: 5, at: start) == .full)
        #expect(admission.refusal(of: Urgency(.normal, client: "b"), behind: 5, at: start) == nil)
    }

    @Test func `Jobs that are being fetched delay a new job, but no more than the jobs that wait`() {
        let newcomer = Urgency(.normal, client: "a", deadline: start + .seconds(2))
        #expect(admission.refusal(of: newcomer, behind: 1000, at: start) == nil)
        for _ in 0..<6 { arrive("a") }
        // 1.5 times 0.6 seconds, or 1.2.
        #expect(admission.refusal(of: newcomer, behind: 1000, at: start) == nil)
        for _ in 0..<4 { arrive("a") }
        #expect(admission.refusal(of: newcomer, behind: 3, at: start) == nil)
        #expect(admission.refusal(of: newcomer, behind: 4, at: start) == .tooLate)
    }

    @Test func `Whenever a job would be refused, the cheaper bound says that one may be`() {
        #expect(!admission.mayRefuse(within: .zero, behind: 1000))
        var wasIdle = false
        for _ in 0..<30 {
            arrive("a")
            for others in [0, 3, 1000] {
                let newcomer = Urgency(.normal, client: "a", deadline: start + .seconds(2))
                let mayRefuse = admission.mayRefuse(within: .seconds(2), behind: others)
                wasIdle = wasIdle || !mayRefuse
                #expect(mayRefuse || admission.refusal(of: newcomer, behind: others, at: start) == nil)
            }
        }
        #expect(wasIdle && admission.mayRefuse(within: .seconds(2), behind: 0))
    }

    @Test func `Retry-After is the estimated time of the waiting jobs, from 1 to 60 seconds`() {
        #expect(admission.retryAfterSeconds == 1)
        for _ in 0..<95 { arrive() }
        #expect(admission.retryAfterSeconds == 10)
        for _ in 0..<5 { arrive(bytes: nil) }
        #expect(admission.retryAfterSeconds == 10)
        admission = Self.admission(threads: 4)
        for _ in 0..<80 { arrive() }
        #expect(admission.retryAfterSeconds == 2)
        // Of these jobs one runs at a time, whatever the number of threads.
        for _ in 0..<20 { arrive(bytes: 100) }
        #expect(admission.retryAfterSeconds == 4)
    }
}
