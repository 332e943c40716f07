import DarkroomRequests
import Testing

@testable import DarkroomTransforms

struct ExactReductionTests {
    @Test func `A whole raster needs no padding`() {
        let plan = ExactReduction(count: 500, origin: 0, length: 500, target: 200)
        #expect(plan.isPlain)
        #expect(plan.factor == 2.5)
    }

    @Test(arguments: [2, 4, 8])
    func `Padding restores the place after any shrink, except for factors just above 1`(
        _ shrink: Int
    ) {
        for side in stride(from: 8 * shrink, through: 3000, by: 37) {
            let count = side / shrink
            let length = Double(side) / Double(shrink)
            for target in Set([count / 2, count * 3 / 4, count - 1, count]).filter({ $0 > 0 }) {
                for origin in [0, Double(count) - length] {
                    let plan = ExactReduction(count: count, origin: origin, length: length, target: target)
                    #expect(
                        plan.isExact || plan.factor < 1.02, "\(side)/\(shrink) to \(target) from \(origin): \(plan)")
                    let reduced = Int((Double(count + plan.lead + plan.trail) / plan.factor).rounded())
                    #expect(plan.skip >= 0 && plan.skip + target <= reduced)
                }
            }
        }
    }
}
