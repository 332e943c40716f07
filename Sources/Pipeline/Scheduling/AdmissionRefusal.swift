extension Admission {
    /// Why work was sent away.
    enum Refusal: String, CaseIterable, Sendable {
        /// There was no place to wait in.
        case full
        /// Another client, who had fewer, wanted its place.
        case displaced
        /// It would have waited longer than anybody has patience for.
        case tooLate = "too_late"
        /// It has waited so long that it could not be done in time.
        case expired
    }

    /// When to come back: when what waits now is done. 1 to 60 seconds.
    var retryAfterSeconds: Int {
        let seconds = waiting.reduce(0) { $0 + secondsOfAll($1) }
        return min(max(Int(seconds.rounded(.up)), 1), 60)
    }

    /// How long the server does nothing else, if all work is like that: it may take more of the memory than of the threads.
    private func secondsOfAll(_ job: Job) -> Double {
        let ofMemory = min(Double(job.weight?.bytes ?? 0) / Double(room.memoryBudgetBytes), 1)
        return pace.seconds(job.weight) * max(1 / Double(room.threads), ofMemory)
    }

    /// Why work would be sent away that is on its way here, so that nobody fetches what it needs in vain.
    ///
    /// - Parameter others: how many are on their way already. They count only once half of the places are taken, or work that never
    ///   comes would keep the threads idle.
    func refusal(of urgency: Urgency, behind others: Int, at now: ContinuousClock.Instant) -> Refusal? {
        if isTooLate(urgency, at: now) { return .tooLate }
        guard waiting.count * 2 >= room.places, waiting.count + others >= room.places else { return nil }
        return victim(for: urgency) == nil ? .full : nil
    }

    /// Whether it would have to wait until nobody wants it any more.
    func isTooLate(_ urgency: Urgency, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = urgency.deadline, !waiting.isEmpty else { return false }
        return now + .seconds(Self.margin * secondsBefore(urgency)) > deadline
    }

    /// By how much a wait may turn out longer than foretold: clients who come later and have had less go first. What is fetched for work that
    /// expires in line is fetched in vain.
    private static let margin = 1.5

    /// How long newcomers of that urgency have to wait: for all that is more urgent, for what their own client has waiting, and for so
    /// much of the others' as makes them even.
    func secondsBefore(_ newcomer: Urgency) -> Double {
        let level = newcomer.level
        let own = shares.leastServed(of: newcomer.clients)
        var above = 0.0
        var equals: [String: Double] = [:]
        for job in waiting {
            let (seconds, theirs) = (secondsOfAll(job), job.urgency.level)
            if theirs > level { above += seconds }
            if theirs == level { equals[shares.leastServed(of: job.urgency.clients), default: 0] += seconds }
        }
        let mine = equals.removeValue(forKey: own) ?? 0
        // Shares are in time of one thread.
        let lead = { (client: String) in (shares.served(own) - shares.served(client)) / Double(room.threads) + mine }
        let others = equals.reduce(0) { $0 + min($1.value, max(0, lead($1.key))) }
        return above + mine + others
    }

    /// Whose place a newcomer may have in a full queue: that of less urgent work, else of the client who has most of the places, if
    /// that is more than the newcomer's would have then. The newest of it goes.
    func victim(for newcomer: Urgency) -> Int? {
        let levels = waiting.map(\.urgency.level)
        guard let lowest = levels.min() else { return nil }
        if lowest < newcomer.level { return newest { levels[$0] == lowest } }
        let clients = waiting.map { shares.leastServed(of: $0.urgency.clients) }
        let counts = clients.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let own = newcomer.clients.map { counts[$0] ?? 0 }.min() ?? 0
        guard let greediest = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), greediest.value > own + 1,
            !newcomer.clients.contains(greediest.key)
        else { return nil }
        return newest { clients[$0] == greediest.key && levels[$0] <= newcomer.level }
    }

    private func newest(where isIncluded: (Int) -> Bool) -> Int? {
        waiting.indices.filter(isIncluded).max { waiting[$0].number < waiting[$1].number }
    }
}
