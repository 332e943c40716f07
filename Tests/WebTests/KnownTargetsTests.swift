import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// What is kept of a target for its next requests.
struct KnownTargetsTests {
    private let target: KnownTarget

    /// A target with a form for each quality from 1 to 7.
    init() throws {
        let lookup = ImagePipeline(memoryBytes: 0).lookup(
            for: ImageRequest(source: try SourceURL(parsing: "http://example.com/a.png")))
        let forms = (1...7).map { quality in
            var preferences = ClientPreferences()
            preferences.quality = quality
            return KnownTarget.Form(preferences, lookup)
        }
        target = KnownTarget(ImageQuery(), Authorization(), forms)
    }

    /// - Returns: the quality of the form, and whether the preferences were read.
    private func ask(_ accept: String?, isSlow: Bool = false, _ quality: Int) -> (Int?, isParsed: Bool) {
        var isParsed = false
        let form = target.form(accept, isSlow: isSlow) {
            isParsed = true
            var preferences = ClientPreferences()
            preferences.quality = quality
            return preferences
        }
        return (form?.preferences.quality, isParsed)
    }

    @Test func `A field Accept is parsed once, byte by byte`() {
        #expect(ask("image/webp", 1) == (1, true))
        #expect(ask("image/webp", 2) == (1, false))
        #expect(ask("image/webp", isSlow: true, 2) == (2, true))
        #expect(ask("image/webp", isSlow: true, 3) == (2, false))
        #expect(ask(nil, 3) == (3, true))
        #expect(ask(nil, 4) == (3, false))
        #expect(ask("", 5) == (5, true))
        // Unicode takes the Greek question mark for a semicolon.
        #expect(ask("image/webp;q=0", 6) == (6, true))
        #expect(ask("image/webp\u{37E}q=0", 7) == (7, true))
    }

    @Test func `Preferences that nobody had before have no form, however often they are asked for`() {
        for _ in 0..<2 { #expect(ask("image/png", 8) == (nil, true)) }
    }

    @Test func `The last few fields are kept, if they are short`() {
        for number in 0..<5 { #expect(ask("image/webp;q=0.\(number)", 1).isParsed) }
        for number in 1..<5 { #expect(!ask("image/webp;q=0.\(number)", 2).isParsed) }
        #expect(ask("image/webp;q=0.0", 2) == (2, true))
        let long = String(repeating: "image/webp,", count: 50)
        for _ in 0..<2 { #expect(ask(long, 1).isParsed) }
    }
}
