import DarkroomEviction
import Foundation

/// The hit ratio of the memory tier's SIEVE next to LRU's, on the same traces: prints one line for each. The same
/// lines each time.
///
/// A trace is a million requests for 100,000 objects of equal size whose popularity follows Zipf's law, alone or with
/// one request in five for an object that nobody asks for again.
@main
enum HitRatio {
    static let objectCount = 100_000
    static let requestCount = 1_000_000

    static func main() {
        print("alpha  one-hit wonders  cache   SIEVE     LRU")
        for alpha in [0.7, 0.9, 1.1] {
            let popularity = Zipf(alpha: alpha, objectCount: objectCount)
            for wonders in OneHitWonders.allCases {
                let trace = Trace(popularity, wonders: wonders, requestCount: requestCount, seed: 1)
                for percent in [1, 5, 10, 50] {
                    let capacity = objectCount * percent / 100
                    let sieve = sieveRatio(of: trace.requests, capacity: capacity)
                    let lru = lruRatio(of: trace.requests, capacity: capacity)
                    print(
                        String(format: "%5.1f  ", alpha)
                            + wonders.rawValue.padding(toLength: 15, withPad: " ", startingAt: 0)
                            + String(format: "%5d %%  %.4f  %.4f", percent, sieve, lru))
                }
            }
        }
    }

    private static func sieveRatio(of requests: [Int], capacity: Int) -> Double {
        var table = SieveTable<Int, Void>(budgetBytes: capacity)
        let hits = requests.count { object in
            if table.value(for: object) != nil { return true }
            _ = table.insert((), cost: 1, for: object)
            return false
        }
        return Double(hits) / Double(requests.count)
    }

    private static func lruRatio(of requests: [Int], capacity: Int) -> Double {
        var cache = LRU(capacity: capacity)
        let hits = requests.count { cache.isHit($0) }
        return Double(hits) / Double(requests.count)
    }
}
