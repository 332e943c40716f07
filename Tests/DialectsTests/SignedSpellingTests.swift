import DarkroomQuery
import DarkroomTestRandom
import Testing

@testable import DarkroomDialects

/// Signed paths of other services in other spellings: each is refused, or means what was signed.
struct SignedSpellingTests {
    private static let thumborKey = ThumborKey("secret")
    private static let pair = (key: "736563726574", salt: "68656C6C6F")

    /// Paths after the signature.
    private static let thumborPaths = [
        "300x200/filters:watermark(example.com/w.png,0,0,0):blur(9)/example.com/a.jpg",
        "filters:expire(1900000000000)/example.com/a.jpg", "fit-in/filters:pixelate(20)/local:///private/a.jpg",
        "fit-in/300x200/filters:quality(50)/https%3A%2F%2Fexample.com%2Fa%2520b.jpg",
        "trim/b64:ZXhhbXBsZS5jb20vYS5qcGc",
        "meta/10x20:110x220/smart/filters:text(b64:YQ,1,1):format(png)/example.com/100%25/a b.jpg?c=d&e=%2F",
    ]
    private static let imgproxyPaths = [
        "/rs:fill:300:200/wm:1:soea/bl:9/plain/https://example.com/a%20b.jpg@png",
        "/exp:1900000000/pr:thumb/aHR0cHM6Ly9leGFt/cGxlLmNvbS9hLmpwZw.webp", "/plain/local:///private%2Fa.jpg",
    ]

    @Test(arguments: thumborPaths)
    func `No encoded byte changes what a signed path of thumbor means`(path: String) throws {
        let dialect = Thumbor(key: Self.thumborKey)
        let signature = Self.thumborKey.sign(path)
        let signed = try #require(Meaning(dialect, "/\(signature)/\(path)"))
        for (index, byte) in zip(path.utf8.indices, path.utf8) {
            let hex = String(byte, radix: 16, uppercase: true)
            for escape in ["%\(hex)", "%\(hex.lowercased())", "%25\(hex)"] {
                let changed = "\(path[..<index])\(escape)\(path[path.utf8.index(after: index)...])"
                let meaning = Meaning(dialect, "/\(signature)/\(changed)")
                #expect(meaning == nil || meaning == signed, "\(changed)")
            }
        }
    }

    @Test(arguments: thumborPaths)
    func `A signed path of thumbor means what was signed, in any spelling that is answered`(path: String) throws {
        try expectOneMeaning(Thumbor(key: Self.thumborKey), Self.thumborKey.sign(path), "/\(path)")
    }

    @Test(arguments: imgproxyPaths)
    func `A signed path of imgproxy means what was signed, in any spelling that is answered`(path: String) throws {
        let keys = try ImgproxyKeys(pairs: [Self.pair])
        var rules = ImgproxyDialect.Rules(keys: keys)
        rules.watermark = "logo"
        let dialect = try ImgproxyDialect(rules, presets: ["thumb=rs:fill:30:40"])
        try expectOneMeaning(dialect, try #require(keys.signature(of: path)), path)
    }

    private func expectOneMeaning(_ dialect: some PathDialect, _ signature: String, _ path: String) throws {
        let signed = try #require(Meaning(dialect, "/\(signature)\(path)"))
        var numbers = SeededRandom(seed: 11)
        var answered = 0
        for _ in 0..<1500 {
            var changed = path
            for _ in 0..<Int.random(in: 1...4, using: &numbers) { changed = respelled(changed, &numbers) }
            guard let meaning = Meaning(dialect, "/\(signature)\(changed)") else { continue }
            answered += 1
            #expect(meaning == signed, "\(changed)")
        }
        #expect(answered > 5)
    }

    /// A text with a byte encoded, decoded or doubled, encoded as a whole, or with something appended.
    private func respelled(_ text: String, _ numbers: inout SeededRandom) -> String {
        var bytes = Array(text.utf8)
        let place = bytes.indices.randomElement(using: &numbers) ?? 0
        let hex = Array(String(0x100 + Int(bytes[place]), radix: 16, uppercase: Bool.random(using: &numbers)).utf8)
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0...3: bytes.replaceSubrange(place...place, with: [0x25] + hex.dropFirst())
        case 4: return text.replacing("%", with: "%25")
        case 5: return text.replacing("%2F", with: "/", maxReplacements: 1).replacing(":", with: "%3A")
        case 6: bytes.insert(bytes[place], at: place)
        default: return text + (["?x=1", "/", "#x", "%", "?"].randomElement(using: &numbers) ?? "")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What a target asks for; nil if it is refused.
    private struct Meaning: Equatable {
        let translation: PathTranslation

        init?(_ dialect: some PathDialect, _ target: String) {
            guard let translation = try? dialect.translate(target[...], limits: QueryLimits()) else { return nil }
            self.translation = translation
        }

        static func == (left: Self, right: Self) -> Bool {
            left.translation.query == right.translation.query && left.translation.expires == right.translation.expires
                && left.translation.isSigned == right.translation.isSigned
        }
    }
}
