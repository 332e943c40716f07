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
