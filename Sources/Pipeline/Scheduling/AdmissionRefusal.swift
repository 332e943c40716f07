import DarkroomWaiting

extension Admission {
    /// Why a job is refused. The raw values are metric labels.
    enum Refusal: String, CaseIterable, Sendable {
        /// The queue is full.
        case full
        /// A client with fewer waiting jobs took its place.
        case displaced
        /// Its deadline would pass in the queue.
        case tooLate = "too_late"
        /// It waited so long that it could not finish before its deadline.
        case expired
    }

    /// The estimated time until the waiting jobs are done, 1 to 60 seconds.
    var retryAfterSeconds: Int {
        let seconds = Priority.allCases.reduce(0) { $0 + self.seconds(waiting.load(at: $1)) }
        return min(max(Int(seconds.rounded(.up)), 1), 60)
    }

    private func seconds(_ load: WaitingLoad) -> Double { load.seconds(throughput, capacity) }

    /// Whether the deadline would pass in the queue.
    ///
    /// - Parameter others: the number of jobs that will wait too, of mean weight.
    func isTooLate(_ urgency: Urgency, behind others: Int = 0, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = urgency.deadline, waiting.count > 0 else { return false }
        let secondsOfOthers = Double(others) * throughput.seconds(nil) / Double(capacity.threads)
        let limit = now.duration(to: deadline) / .seconds(Self.margin) - secondsOfOthers
        return secondsBefore(urgency, upTo: limit) > limit
    }

    /// Whether a new job of any client, with this time until its deadline, may be refused: a bound that costs less than
    /// `refusal`.
    func mayRefuse(within timeout: Duration, behind others: Int) -> Bool {
        guard waiting.count > 0 else { return false }
        if waiting.count * 2 >= capacity.queueLength { return true }
        let secondsOfOthers = Double(min(others, waiting.count)) * throughput.seconds(nil) / Double(capacity.threads)
        let most = Priority.allCases.reduce(0) { $0 + seconds(waiting.load(at: $1)) }
        return most > timeout / .seconds(Self.margin) - secondsOfOthers
    }

    /// The factor by which a wait may exceed its estimate, since later clients that were served less go first.
    private static let margin = 1.5

    /// The estimated wait of a new job: the time of all jobs of higher priority, of the waiting jobs of its client, and
    /// of the jobs of other clients until they have been served as much.
    ///
    /// - Parameter limit: clients are compared only if the comparison decides whether the wait exceeds this limit.
    ///   Otherwise the result is a bound on the same side of the limit.
    func secondsBefore(_ newcomer: Urgency, upTo limit: Double? = nil) -> Double {
        let rating = newcomer.rating
        let above = Priority.allCases.filter { $0 > rating.level }.reduce(0) { $0 + seconds(waiting.load(at: $1)) }
        let most = above + seconds(waiting.load(at: rating.level))
        if let limit, most <= limit || above > limit { return most <= limit ? most : above }
        var clients = waiting.loadsOfClients(at: rating.level)
        let own = shares.leastServed(of: rating.clients)
        let mine = clients.removeValue(forKey: own).map { seconds($0.load) } ?? 0
        // Shares are in seconds of one thread.
        let (threads, served) = (Double(capacity.threads), shares.served(own))
        return clients.values.reduce(above + mine) { sum, other in
            let lead = (served - max(other.served, shares.floor)) / threads
            return sum + min(seconds(other.load), max(0, lead + mine))
        }
    }

    /// The waiting job that a new job displaces from a full queue: the newest of the lowest priority below its own, or
    /// else of the client with the most waiting jobs, if that is more than the new job's client would then have.
    func victim(for newcomer: Urgency) -> Int? {
        let rating = newcomer.rating
        return waiting.line.victim(for: rating.clients, at: rating.level)
    }
}
