import DarkroomTestRandom

/// Makes inputs of good ones: the same seed makes the same.
struct Mutator {
    private var random: SeededRandom

    /// The longest input, in bytes.
    static let maxBytes = 64 << 10

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// One of the seeds after one to eight changes; each puts in, takes out or replaces something, or splices two.
    mutating func input(from seeds: [[UInt8]], words: [String]) -> [UInt8] {
        var input = seeds.randomElement(using: &random) ?? []
        for _ in 0..<(1 << Int.random(in: 0...3, using: &random)) {
            change(&input, seeds: seeds, words: words)
        }
        return Array(input.prefix(Self.maxBytes))
    }

    private mutating func change(_ input: inout [UInt8], seeds: [[UInt8]], words: [String]) {
        let place = Int.random(in: 0...input.count, using: &random)
        let range = place..<min(input.count, place + Int.random(in: 0...16, using: &random))
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 1 where place < input.count: input[place] = oddByte()
        case 2: input.insert(oddByte(), at: place)
        case 3: input.removeSubrange(range)
        case 4: input.insert(contentsOf: input[range], at: place)
        case 5: input.insert(contentsOf: word(words), at: place)
        case 6: input.replaceSubrange(range, with: word(words))
        case 7: input = Array(input[..<place]) + (seeds.randomElement(using: &random) ?? []).suffix(place)
        default:
            input.insert(
                contentsOf: repeatElement(oddByte(), count: 1 << Int.random(in: 0...12, using: &random)), at: place)
        }
    }

    /// Any byte, half of the time one that means something somewhere.
    private mutating func oddByte() -> UInt8 {
        Bool.random(using: &random)
            ? UInt8.random(in: 0...255, using: &random) : Self.odd.randomElement(using: &random) ?? 0
    }

    private mutating func word(_ words: [String]) -> [UInt8] {
        Array(((words + Self.words).randomElement(using: &random) ?? "").utf8)
    }

    private static let odd =
        Array("\0\t\r\n \"%&'()*+,-./0123456789:;<=>?@[\\]^_{|}~\u{7F}".utf8) + [0x80, 0xC3, 0xE2, 0xF0, 0xFF]
    private static let words = [
        "-1", "0", "00", "1e9", "1e-300", "0.5", "65536", "2147483648", "9223372036854775807", "9223372036854775808",
        "99999999999999999999", "%00", "%2e%2e", "%25", "%c3%28", "é", "。", "\u{202E}", "\u{FEFF}", "🦊", "null", "true",
        "\u{7F}\u{FF}", "\r\n", ",,", ";;", "\"\\\"",
    ]
}
