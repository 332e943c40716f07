import DarkroomPipeline
import DarkroomRequests
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// What is kept of a target for its next requests.
struct KnownTargetsTests {
    private let target = KnownTarget(ImageQuery(), Authorization(), [])

    /// - Returns: the first format, and whether the field was parsed.
    private func ask(_ accept: String?, _ format: OutputFormat) -> (OutputFormat?, isParsed: Bool) {
        var isParsed = false
        let preferences = target.preferences(accept) {
            isParsed = true
            var preferences = ClientPreferences()
            preferences.formats = FormatList([format]) ?? FormatList()
            return preferences
        }
        return (preferences.formats.first, isParsed)
    }

    @Test func `A field Accept is parsed once, byte by byte`() {
        #expect(ask("image/webp", .webp) == (.webp, true))
        #expect(ask("image/webp", .png) == (.webp, false))
        #expect(ask(nil, .jpeg) == (.jpeg, true))
        #expect(ask(nil, .png) == (.jpeg, false))
        #expect(ask("", .gif) == (.gif, true))
        // Unicode takes the Greek question mark for a semicolon.
        #expect(ask("image/webp;q=0", .avif) == (.avif, true))
        #expect(ask("image/webp\u{37E}q=0", .png) == (.png, true))
    }

    @Test func `The last few fields are kept, if they are short`() {
        for number in 0..<5 { #expect(ask("image/webp;q=0.\(number)", .webp).isParsed) }
        for number in 1..<5 { #expect(!ask("image/webp;q=0.\(number)", .png).isParsed) }
        #expect(ask("image/webp;q=0.0", .png) == (.png, true))
        let long = String(repeating: "image/webp,", count: 50)
        for _ in 0..<2 { #expect(ask(long, .webp).isParsed) }
    }
}
