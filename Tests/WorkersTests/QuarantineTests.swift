import DarkroomRequests
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomWorkers

struct QuarantineTests {
    private let start = ContinuousClock.now

    private func job(_ identity: String?, width: Int = 10) -> ImageJob {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        return ImageJob(source: ByteBuffer(), identity: identity, chain: TransformChain(recipe))
    }

    @Test func `A content that killed is refused whatever is wanted of it, and others are not`() {
        var quarantine = Quarantine(duration: .seconds(60))
        quarantine.add(.content("a"), .corrupt("it crashed"), now: start)
        #expect(quarantine.error(for: job("a"), now: start) == .corrupt("it crashed"))
        #expect(quarantine.error(for: job("a", width: 20), now: start) == .corrupt("it crashed"))
        #expect(quarantine.error(for: job("b"), now: start) == nil)
        #expect(quarantine.error(for: job(nil), now: start) == nil)
    }

    @Test func `Pixels that killed are not decoded again, and the header is read until it kills too`() {
        var quarantine = Quarantine(duration: .seconds(60))
        var header = job("a")
        header.output = OutputOptions(format: .json)
        #expect(header.subject == .content("a") && job("a").subject == .pixels("a"))
        quarantine.add(.pixels("a"), .corrupt("it crashed"), now: start)
        #expect(quarantine.error(for: job("a"), now: start) == .corrupt("it crashed"))
        header.output = OutputOptions(format: .json, details: .color)
        #expect(quarantine.error(for: header, now: start) == .corrupt("it crashed"))
        header.output = OutputOptions(format: .json)
        #expect(quarantine.error(for: header, now: start) == nil)
        quarantine.add(.content("a"), .corrupt("it crashed again"), now: start)
        #expect(quarantine.error(for: header, now: start) == .corrupt("it crashed again"))
    }

    @Test func `Work that took too much is refused, and less work on the same content is not`() throws {
        var quarantine = Quarantine(duration: .seconds(60))
        quarantine.add(.work(try #require(job("a").workIdentity)), .tooLarge("too much"), now: start)
        #expect(quarantine.error(for: job("a"), now: start) == .tooLarge("too much"))
        #expect(quarantine.error(for: job("a", width: 20), now: start) == nil)
    }

    @Test func `It ends after its time`() {
        var quarantine = Quarantine(duration: .seconds(60))
        quarantine.add(.content("a"), .unsupported, now: start)
        quarantine.add(.content("b"), .unsupported, now: start + .seconds(30))
        #expect(quarantine.error(for: job("a"), now: start + .seconds(59)) != nil)
        #expect(quarantine.error(for: job("a"), now: start + .seconds(60)) == nil)
        #expect(quarantine.error(for: job("b"), now: start + .seconds(60)) != nil)
        #expect(quarantine.count == 1)
    }

    @Test func `A second death counts from then on`() {
        var quarantine = Quarantine(duration: .seconds(60))
        quarantine.add(.content("a"), .unsupported, now: start)
        quarantine.add(.content("a"), .unsupported, now: start + .seconds(30))
        #expect(quarantine.error(for: job("a"), now: start + .seconds(80)) != nil)
        #expect(quarantine.count == 1)
    }

    @Test func `A time of zero refuses nothing`() {
        var quarantine = Quarantine(duration: .zero)
        quarantine.add(.content("a"), .unsupported, now: start)
        #expect(quarantine.error(for: job("a"), now: start) == nil)
    }

    @Test func `What is released is tried again`() {
        var quarantine = Quarantine(duration: .seconds(60))
        quarantine.add(.content("a"), .unsupported, now: start)
        quarantine.remove(.content("a"))
        #expect(quarantine.error(for: job("a"), now: start) == nil)
        #expect(quarantine.count == 0)
    }

    @Test func `It holds a bounded number, and the oldest goes first`() {
        var quarantine = Quarantine(duration: .seconds(60))
        for number in 0...Quarantine.maxSubjects { quarantine.add(.content("\(number)"), .unsupported, now: start) }
        #expect(quarantine.count == Quarantine.maxSubjects)
        #expect(quarantine.error(for: job("0"), now: start) == nil)
        #expect(quarantine.error(for: job("1"), now: start) != nil)
    }
}
