/// The time for which each client has been served, so that the client served least goes first (start-time fair
/// queueing; Goyal, Vin and Cheng, 1996).
///
/// A new client, or one that returns after a pause, starts level with the client being served: idle time earns no
/// credit.
package struct FairShares {
    /// The most clients that are tracked. Beyond it all clients start over.
    package static let maxClients = 4096

    private var served: [String: Double] = [:]
    /// The least that any client counts as served. It only rises.
    package private(set) var floor = 0.0

    package init() {}

    /// The seconds that a client has been served.
    package func served(_ client: String) -> Double { max(served[client] ?? floor, floor) }

    package func leastServed(of clients: [String]) -> String {
        clients.min { served($0) < served($1) } ?? ""
    }

    /// Charges a client for work that starts, as estimated.
    package mutating func charge(_ client: String, seconds: Double) {
        floor = served(client)
        served[client] = floor + seconds
        if served.count > Self.maxClients { evict() }
    }

    /// Corrects a client's charge by the difference between the actual and the estimated time.
    package mutating func correct(_ client: String, bySeconds seconds: Double) {
        guard let seconds = served[client].map({ $0 + seconds }) else { return }
        served[client] = seconds
    }

    private mutating func evict() {
        served = served.filter { $0.value > floor }
        if served.count > Self.maxClients / 2 {
            floor = served.values.max() ?? floor
            served = [:]
        }
    }
}
