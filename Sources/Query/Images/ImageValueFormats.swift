import DarkroomNetwork
import DarkroomRequests

extension ValueFormat where Value == Color {
    static var color: ValueFormat { ValueFormat(.color, write: \.hex) { Color(parsing: $0) } }
}

extension ValueFormat where Value == Duration {
    /// A lifetime in whole seconds, minutes, hours, days, weeks or years of 365 days, from `1s` to `1y`. Written in
    /// seconds.
    static var lifetime: ValueFormat {
        ValueFormat(
            pattern: "^[0-9]{1,8}[smhdwy]$",
            expected: "a time from 1s to 1y, as an integer with the unit s, m, h, d, w or y",
            write: { "\($0.components.seconds)s" },
            read: { text in
                guard let unit = text.last.flatMap({ units[$0] }), text.utf8.count <= 9,
                    let count = Digits.integer(String(text.dropLast())), count >= 0
                else { return nil }
                let seconds = count * unit
                return (1...31_536_000).contains(seconds) ? .seconds(seconds) : nil
            })
    }

    private static var units: [Character: Int] {
        ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000]
    }
}

extension ValueFormat where Value == String {
    /// A file name that needs no quoting and is hidden on no system. It may end in `.*` instead of an extension.
    static var fileName: ValueFormat {
        // Letters beyond ASCII belong to the Basic Multilingual Plane, without its spaces, its general punctuation
        // and what changes the direction of text, which could disguise an extension.
        let letters = #"\u00c0-\u061b\u061d-\u167f\u1681-\u180d\u180f-\u1fff\u2c00-\u2fff\u3001-\ud7ff"#
        return text(
            pattern: #"^[A-Za-z0-9_\#(letters)-][A-Za-z0-9._\#(letters)-]{0,99}(\.\*)?$"#,
            expected:
                "a name of up to 100 letters, digits, -, _ and ., not beginning with ., with or without .* at the end"
        ) { text in
            let name = (text.hasSuffix(".*") ? text.dropLast(2) : text[...]).unicodeScalars
            return (1...100).contains(name.count) && name.first != "." && name.allSatisfy(\.isFileNameCharacter)
        }
    }

    /// A text by which a client selects a separate cache entry.
    static var version: ValueFormat {
        text(
            pattern: "^[!-~]{1,100}$", expected: "1 to 100 printable ASCII characters without spaces"
        ) { text in
            (1...100).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        }.bare("")
    }
}

extension Unicode.Scalar {
    fileprivate var isFileNameCharacter: Bool {
        if isASCII { return UInt8(value).isPlainNameCharacter }
        let blocks: [ClosedRange<UInt32>] = [0x00c0...0x1fff, 0x2c00...0x2fff, 0x3001...0xd7ff]
        return blocks.contains { $0.contains(value) } && ![0x061c, 0x1680, 0x180e].contains(value)
    }
}

/// A value of `output`.
enum OutputName: Hashable, Sendable {
    /// WebP where the client accepts it, else the format of the source.
    case negotiated
    /// The format of the source, whatever the client accepts.
    case origin
    case format(OutputFormat)

    /// Nil = negotiated.
    var outputFormat: OutputFormat? {
        if case .format(let format) = self { format } else { nil }
    }
}

/// A value of `q`.
enum QualityChoice: Hashable, Sendable {
    case fixed(Int)
    /// By the image.
    case auto

    var fixed: Int? {
        if case .fixed(let quality) = self { quality } else { nil }
    }
}

/// A value of `page`: ``PageSelection/first``, and whether there may be fewer pages.
struct PageChoice: Hashable, Sendable {
    var first: Int
    var mayBeFewer = false

    /// The part of a value before the number of a page that may not exist.
    fileprivate static let upTo = "upto:"
}

/// A value of `pick`: which frames of an animation are used if `n` is less than their number.
enum FramePick: String, CaseIterable, Sendable {
    case first, even
}

extension ImageQueryDraft {
    var page: PageChoice {
        get { PageChoice(first: query.pages.first, mayBeFewer: query.pages.mayBeFewer) }
        set { (query.pages.first, query.pages.mayBeFewer) = (newValue.first, newValue.mayBeFewer) }
    }

    var pick: FramePick {
        get { query.pages.isThinned ? .even : .first }
        set { query.pages.isThinned = newValue == .even }
    }
}

extension ValueFormat where Value == PageChoice {
    /// The number of a page, or ``PageSelection/primary``, ``PageSelection/largest`` or ``PageSelection/smallest``.
    static var page: ValueFormat {
        let named = [
            "primary": PageSelection.primary, "largest": PageSelection.largest, "smallest": PageSelection.smallest,
        ]
        return ValueFormat(
            pattern: "^(primary|largest|smallest|(upto:)?[1-9][0-9]{0,8})$",
            expected: "an integer from 1 to 999999999, with or without upto: before it, primary, largest or smallest",
            write: { page in
                named.first { $0.value == page.first }?.key ?? (page.mayBeFewer ? PageChoice.upTo : "")
                    + "\(page.first)"
            },
            read: { text in
                let text = text.lowercased()
                if let first = named[text] { return PageChoice(first: first) }
                let mayBeFewer = text.hasPrefix(PageChoice.upTo)
                let number = mayBeFewer ? String(text.dropFirst(PageChoice.upTo.count)) : text
                return Digits.integer(number, in: 1...999_999_999).map {
                    PageChoice(first: $0, mayBeFewer: mayBeFewer)
                }
            })
    }
}

extension ValueFormat where Value == QualityChoice {
    static var quality: ValueFormat {
        ValueFormat(
            pattern: "^(auto|[1-9][0-9]?|100)$", expected: "an integer from 1 to 100, or auto",
            write: { $0.fixed.map(String.init) ?? "auto" },
            read: { text in
                guard text.lowercased() != "auto" else { return .auto }
                return text.first == "0" ? nil : Digits.integer(text, in: 1...100).map { .fixed($0) }
            })
    }
}

extension ValueFormat where Value == OutputName {
    /// - Parameter unwritable: formats that the schema leaves out. They are read all the same, since an error sentence
    ///   can say more about them than about an unknown name.
    static func output(without unwritable: Set<OutputFormat>) -> ValueFormat {
        let all = choice(of: outputNames, aliases: outputAliases)
        guard !unwritable.isEmpty else { return all }
        let isOffered = { (name: (String, OutputName)) in name.1.outputFormat.map { !unwritable.contains($0) } ?? true }
        let offered = choice(of: outputNames.filter(isOffered), aliases: outputAliases.filter(isOffered))
        return ValueFormat(offered.schema, write: all.write, read: all.read)
    }

    private static let outputNames: [(String, OutputName)] =
        [("auto", .negotiated), ("origin", .origin)] + OutputFormat.allCases.map { ($0.rawValue, .format($0)) }

    private static let outputAliases: [(String, OutputName)] = OutputFormat.allCases.flatMap { format in
        format.aliases.map { ($0, .format(format)) }
    }
}

extension ValueFormat where Value == ImageDetails {
    /// A value of `fields` of `/image`.
    ///
    /// - Parameter findsFaces: whether the schema has `faces`.
    static func details(findsFaces: Bool) -> ValueFormat {
        let others = names(of: ImageDetails.names + [("all", .all)] + ImageDetails.foreign, shorthands: ["all"])
        let all = names(
            of: ImageDetails.names + ImageDetails.ofFaces + [("all", .all)] + ImageDetails.foreign, shorthands: ["all"])
        return findsFaces ? all : ValueFormat(others.schema, write: all.write, read: all.read)
    }

    /// A value of `placeholder`: details that can stand in for an image.
    static var placeholders: ValueFormat {
        .names(of: ImageDetails.names.filter { ![.palette, .exif].contains($0.value) })
    }
}

extension ImageDetails {
    /// The members of weserv/images, instead of Darkroom's members.
    static let foreign: [(name: String, value: ImageDetails)] = [("wsrv", .wsrv)]

    /// Details that only servers know that look for faces.
    static let ofFaces: [(name: String, value: ImageDetails)] = [("faces", .faces)]

    /// Their names in queries and documents, in the order of the documentation.
    fileprivate static let names: [(name: String, value: ImageDetails)] = [
        ("color", .color), ("palette", .palette), ("blurhash", .blurHash), ("thumbhash", .thumbHash), ("lqip", .lqip),
        ("exif", .exif),
    ]
}

/// A value of `fields` of `/info`, which can also report caching.
enum InfoField: Hashable, Sendable {
    case detail(ImageDetails)
    case caching

    var detail: ImageDetails? {
        if case .detail(let detail) = self { detail } else { nil }
    }
}

extension ValueFormat where Value == Set<InfoField> {
    /// - Parameter findsFaces: whether the schema has `faces`.
    static func infoFields(findsFaces: Bool) -> ValueFormat {
        let fields = { (details: [(name: String, value: ImageDetails)]) in
            names(
                of: (ImageDetails.names + details + [("all", .all)]).map { ($0.name, [.detail($0.value)]) }
                    + [("cache", [.caching])], shorthands: ["all"])
        }
        let all = fields(ImageDetails.ofFaces)
        return findsFaces ? all : ValueFormat(fields([]).schema, write: all.write, read: all.read)
    }
}

/// What a response waits for.
enum Waiting: String, CaseIterable, Sendable {
    case stored, best
}

extension ImageQueryDraft {
    /// A value of `wait`; nil = the response waits for neither.
    var waiting: Waiting? {
        get { query.waitsForDisk ? .stored : query.waitsForBest ? .best : nil }
        set { (query.waitsForDisk, query.waitsForBest) = (newValue == .stored, newValue == .best) }
    }
}

extension ValueFormat where Value == SourceDigest {
    /// An algorithm, a colon and a hash in hexadecimal.
    static var digest: ValueFormat {
        let choices = SourceDigest.Algorithm.allCases.map { "\($0.rawValue):[0-9A-Fa-f]{\($0.digits)}" }
        return ValueFormat(
            pattern: "^(\(choices.joined(separator: "|")))$",
            expected: "md5, sha1, sha256 or sha512, a colon, and the hash in hexadecimal",
            write: { "\($0.algorithm.rawValue):\($0.hex)" },
            read: { text in
                let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2 else { return nil }
                return SourceDigest.Algorithm(rawValue: parts[0]).flatMap { SourceDigest($0, parts[1]) }
            })
    }
}

extension ValueFormat where Value == Set<Int> {
    /// The statuses of failures of a source.
    static var failures: ValueFormat {
        names(of: [403, 404, 410, 413, 415, 422, 502, 503, 504].map { ("\($0)", [$0]) })
    }
}
