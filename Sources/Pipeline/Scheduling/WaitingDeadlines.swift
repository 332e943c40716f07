/// The deadlines of waiting jobs that need equally long, in the orders in which they expire.
struct WaitingDeadlines {
    typealias Instant = ContinuousClock.Instant

    private var deadlines: [Int: Instant] = [:]
    /// The jobs that have not waited for half of their time when last looked at, by the end of that half.
    private var patient = IndexedHeap<Int, Instant>()
    /// The others, by deadline.
    private var impatient = IndexedHeap<Int, Instant>()

    mutating func insert(_ number: Int, from arrival: Instant, until deadline: Instant) {
        deadlines[number] = deadline
        patient.set(number, to: deadline - arrival.duration(to: deadline) / 2)
    }

    mutating func remove(_ number: Int) {
        deadlines[number] = nil
        patient.remove(number)
        impatient.remove(number)
    }

    /// Removes the jobs that have waited for half of their time and would end after their deadline.
    mutating func removeExpired(at now: Instant, needing time: Duration) -> [Int] {
        while let next = patient.first, next.rank < now {
            patient.remove(next.key)
            if let deadline = deadlines[next.key] { impatient.set(next.key, to: deadline) }
        }
        var expired: [Int] = []
        while let next = impatient.first, now + time > next.rank {
            remove(next.key)
            expired.append(next.key)
        }
        return expired
    }
}
