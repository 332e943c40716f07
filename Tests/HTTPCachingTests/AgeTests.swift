import Foundation
import Testing

@testable import DarkroomHTTPCaching

struct AgeTests {
    private func age(
        _ fields: [String], date: Int? = 0, delay: TimeInterval = 0, after seconds: TimeInterval = 0
    ) -> Duration {
        Origin.response(fields, date: date, delay: delay).freshness(FreshnessPolicy()).age(at: Origin.later(seconds))
    }

    @Test(arguments: [
        (["Age: 0"], 0), (["Age: 7200"], 7_200), (["Age: 7200, 0"], 7_200), (["Age: 0, 7200"], 0),
        (["Age: 7200", "Age: 0"], 7_200), (["Age: 0", "Age: 7200"], 0), (["Age: 30", "Age: 30"], 30),
        (["Age: , 30"], 30), (["Age: abc"], 0), (["Age: -7200"], 0), (["Age: 7200.0"], 0), (["Age: 7200;a=b"], 0),
        (["Age:"], 0), (["Age: 007"], 7), (["Age: 2147483647"], 2_147_483_647), (["Age: 2147483649"], 2_147_483_648),
        (["Age: 99999999999999999999"], 2_147_483_648),
    ])
    func `Age is its first member, and a number or nothing`(fields: [String], seconds: Int) {
        #expect(age(fields) == .seconds(seconds))
    }

    @Test func `A response grows older by the time that it is kept`() {
        #expect(age(["Age: 30"], after: 12.5) == .seconds(42.5))
    }

    @Test func `The way from the origin counts, and an old Date too`() {
        #expect(age(["Age: 30"], delay: 4) == .seconds(34))
        #expect(age([], date: -50) == .seconds(50))
        #expect(age(["Age: 30"], date: -50, delay: 4) == .seconds(50))
        #expect(age(["Age: 60"], date: -50, delay: 4) == .seconds(64))
    }

    @Test func `An origin's clock that runs fast makes nothing younger than it is`() {
        #expect(age([], date: 500, after: 3) == .seconds(3))
        #expect(age(["Age: 15"], date: 10) == .seconds(15))
    }

    @Test func `After the clock is set back, ages are not negative and freshness is not endless`() {
        let freshness = Origin.response(["Cache-Control: max-age=60"]).freshness(FreshnessPolicy())
        #expect(freshness.age(at: Origin.later(-1)) == .seconds(1))
        #expect(freshness.remaining(at: Origin.later(-86_400 * 3_650)) < .zero)
        #expect(freshness.age(at: .distantPast) > .zero)
        #expect(freshness.age(at: .distantFuture) > .zero)
        #expect(freshness.age(at: Date(timeIntervalSince1970: .infinity)) > .zero)
        #expect(freshness.age(at: Date(timeIntervalSince1970: .nan)) >= .zero)
    }

    @Test func `A request that seems to have left after its answer came adds nothing`() {
        #expect(age([], delay: -100) == .zero)
    }

    @Test func `What is left never grows`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var stored = Origin.response(
                ["Cache-Control: max-age=\(Int.random(in: 0...100, using: &numbers))", "Age: 3"],
                date: Int.random(in: -50...50, using: &numbers))
            if Bool.random(using: &numbers) { stored.staleSince = Origin.later(.random(in: 0...100, using: &numbers)) }
            let freshness = stored.freshness(FreshnessPolicy())
            let moments = (0..<20).map { _ in Double.random(in: 0...300, using: &numbers) }.sorted()
            let rests = moments.map { freshness.remaining(at: Origin.later($0)) }
            #expect(zip(rests, rests.dropFirst()).allSatisfy { $0 >= $1 })
        }
    }

    @Test func `A soft purge makes a response stale from that moment`() {
        var stored = Origin.response(["Cache-Control: max-age=3600, stale-while-revalidate=10"])
        stored.staleSince = Origin.later(100)
        let freshness = stored.freshness(FreshnessPolicy())
        #expect(freshness.remaining(at: Origin.later(100)) == .zero)
        #expect(freshness.remaining(at: Origin.later(105)) == .seconds(-5))
        #expect(freshness.remaining(at: Origin.later(4_000)) == .seconds(-3_900))
        // The clock was set back since: it stays purged.
        #expect(freshness.remaining(at: Origin.later(50)) <= .zero)
    }
}
