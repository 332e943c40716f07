import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting

struct WaitingJobs {
    /// A job with the values that decide on its place.
    final class Member: WaitingLineMember {
        fileprivate(set) var job: Admission.Job
        fileprivate(set) var rating: Urgency.Rating
        /// The job's least served client.
        fileprivate(set) var client = ""
        /// The seconds that ``client`` was served, or ``FairShares/floor`` if that is higher by now.
        fileprivate(set) var served = 0.0
        /// When half of the job's time has passed.
        fileprivate(set) var halftime: ContinuousClock.Instant?

        let number: Int
        var level: Priority { rating.level }

        fileprivate init(_ job: Admission.Job, _ shares: FairShares) {
            self.job = job
            number = job.number
            rating = job.urgency.rating
            update(shares)
        }

        fileprivate func update(_ shares: FairShares) {
            rating = job.urgency.rating
            halftime = rating.deadline.map { $0 - job.arrivedAt.duration(to: $0) / 2 }
            updateClient(shares)
        }

        fileprivate func updateClient(_ shares: FairShares) {
            client = shares.leastServed(of: rating.clients)
            served = shares.served(client)
        }
    }

    private let capacity: Admission.Capacity
    private(set) var line = WaitingLine<Member>()
    /// By priority.
    private var loads = Array(repeating: WaitingLoad(), count: Priority.allCases.count)

    init(capacity: Admission.Capacity) {
        self.capacity = capacity
    }

    var count: Int { line.count }

    /// The oldest first.
    var jobs: [Admission.Job] { line.members.map(\.job).sorted { $0.number < $1.number } }

    /// The memory of the jobs that have been weighed.
    var bytes: Int { loads.reduce(0) { $0 + $1.bytes } }

    /// The jobs that were weighed and did not fit.
    var weighed: [Member] {
        loads.contains(where: \.hasWeighed) ? line.members.filter { $0.job.weight != nil } : []
    }

    func load(at level: Priority) -> WaitingLoad { loads[level.rawValue] }

    /// The loads of the clients at a priority, each with the seconds that the client was served.
    func loadsOfClients(at level: Priority) -> [String: (load: WaitingLoad, served: Double)] {
        var loads: [String: (load: WaitingLoad, served: Double)] = Dictionary(minimumCapacity: count)
        for member in line.members where member.level == level {
            loads[member.client, default: (WaitingLoad(), member.served)].load.add(member.job.weight, capacity)
        }
        return loads
    }

    mutating func insert(_ job: Admission.Job, _ shares: FairShares) {
        let member = Member(job, shares)
        loads[member.level.rawValue].add(job.weight, capacity)
        line.append(member)
    }

    mutating func remove(_ number: Int) -> Admission.Job? {
        line.members.firstIndex { $0.number == number }.map { remove(at: $0) }
    }

    mutating func remove(at index: Int) -> Admission.Job {
        let member = line.remove(at: index)
        loads[member.level.rawValue].remove(member.job.weight, capacity)
        return member.job
    }

    /// Counts that another job overtook this job while it was first in line.
    func recordOvertaking(of member: Member) { member.job.timesOvertaken += 1 }

    /// Reads the urgencies that have risen.
    mutating func updateUrgencies(_ shares: FairShares) {
        for member in line.members where member.rating.revision != member.job.urgency.revision {
            loads[member.level.rawValue].remove(member.job.weight, capacity)
            line.change(member) { member.update(shares) }
            loads[member.level.rawValue].add(member.job.weight, capacity)
        }
    }

    /// Reads the share of a client, which has changed. ``FairShares/floor`` may have changed too, and with it the least
    /// served of several clients.
    mutating func shareChanged(of client: String, _ shares: FairShares) {
        for member in line.members where member.client == client || member.rating.clients.count > 1 {
            line.change(member) { member.updateClient(shares) }
        }
    }
}

/// The sum of the work of waiting jobs, in units that stay valid while the estimated speed of work changes.
struct WaitingLoad {
    private(set) var count = 0
    private(set) var bytes = 0
    /// The number of jobs whose weight is unknown.
    private var unweighed = 0
    /// The work of the weighed jobs, as shares of the whole queue's time.
    private var work = 0.0

    var hasWeighed: Bool { count > unweighed }

    mutating func add(_ weight: JobWeight?, _ capacity: Admission.Capacity) {
        count += 1
        guard let weight else {
            unweighed += 1
            return
        }
        bytes += weight.bytes
        work += Self.workOfAll(weight, capacity)
    }

    mutating func remove(_ weight: JobWeight?, _ capacity: Admission.Capacity) {
        count -= 1
        guard let weight else {
            unweighed -= 1
            return
        }
        bytes -= weight.bytes
        // Rounding errors must not add up.
        work = count == unweighed ? 0 : work - Self.workOfAll(weight, capacity)
    }

    /// The seconds until all threads together have done this work.
    func seconds(_ throughput: ThroughputEstimate, _ capacity: Admission.Capacity) -> Double {
        Double(unweighed) * throughput.seconds(nil) / Double(capacity.threads)
            + throughput.seconds(JobWeight(bytes: 0, work: work))
    }

    /// The work of a job divided by the threads, or more if it takes a larger part of the memory budget.
    private static func workOfAll(_ weight: JobWeight, _ capacity: Admission.Capacity) -> Double {
        let ofMemory = min(Double(weight.bytes) / Double(capacity.memoryBudgetBytes), 1)
        return weight.work * max(1 / Double(capacity.threads), ofMemory)
    }
}
