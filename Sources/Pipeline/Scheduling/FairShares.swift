/// How much time each client has had, so that who has had less goes first (start-time fair queueing, Goyal, Vin and Cheng, 1996).
///
/// Who comes anew, or again after a pause, starts level with whoever is served just then: nobody saves up time.
struct FairShares {
    /// Clients that are remembered. Beyond that all begin anew: then nobody is greedy, there are only many.
    static let maxClients = 4096

    private var served: [String: Double] = [:]
    private var floor = 0.0

    /// Seconds that a client counts as served.
    func served(_ client: String) -> Double { max(served[client] ?? floor, floor) }

    /// Of several clients the one that has had least.
    func leastServed(of clients: [String]) -> String {
        clients.min { served($0) < served($1) } ?? ""
    }

    /// Work for a client begins that will take so long.
    mutating func begin(_ client: String, seconds: Double) {
        floor = served(client)
        served[client] = floor + seconds
        if served.count > Self.maxClients { forget() }
    }

    /// It took so much longer, or with a minus shorter, than was thought.
    mutating func correct(_ client: String, bySeconds seconds: Double) {
        guard let seconds = served[client].map({ $0 + seconds }) else { return }
        served[client] = seconds
    }

    private mutating func forget() {
        served = served.filter { $0.value > floor }
        if served.count > Self.maxClients / 2 {
            floor = served.values.max() ?? floor
            served = [:]
        }
    }
}
