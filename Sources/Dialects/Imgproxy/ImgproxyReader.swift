import DarkroomQuery

/// An option with its arguments, as a path has it.
struct ImgproxyOption: Hashable, Sendable {
    let name: String
    let arguments: [Substring]

    /// The options at the beginning of a list of segments, and the segments after them.
    static func split(_ segments: [Substring]) -> (options: [ImgproxyOption], rest: ArraySlice<Substring>) {
        var options: [ImgproxyOption] = []
        for segment in segments {
            let parts = segment.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count > 1 else { break }
            options.append(ImgproxyOption(name: String(parts[0]), arguments: Array(parts.dropFirst())))
        }
        return (options, segments.dropFirst(options.count))
    }
}

/// The presets of imgproxy: names for lists of options.
package struct ImgproxyPresets: Sendable {
    private(set) var definitions: [String: [ImgproxyOption]] = [:]

    /// Why a preset was refused, in one sentence without a period.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter texts: definitions such as `thumb=resize:fill:200:200/quality:80`.
    init(_ texts: [String]) throws(Flaw) {
        for text in texts {
            let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = halves[0].trimmingPrefix(" ")
            guard halves.count == 2, !name.isEmpty else {
                throw Flaw(
                    description: "'\(InvalidParameter.clipped(text))' must be NAME=OPTIONS, such as "
                        + "thumb=resize:fill:200:200/quality:80")
            }
            let (options, rest) = ImgproxyOption.split(
                halves[1].split(separator: "/", omittingEmptySubsequences: false))
            guard rest.isEmpty, definitions.updateValue(options, forKey: String(name)) == nil else {
                throw Flaw(
                    description: "the preset '\(InvalidParameter.clipped(String(name)))' "
                        + (rest.isEmpty
                            ? "is defined twice" : "has a part that is not an option: '\(rest.first ?? "")'"))
            }
        }
        for name in definitions.keys.sorted() {
            var reader = ImgproxyReader(presets: self)
            do throws(InvalidParameter) { try reader.applyPreset(name[...]) } catch {
                throw Flaw(description: "the preset '\(InvalidParameter.clipped(name))' is invalid: \(error.detail)")
            }
        }
    }
}

/// Reads the options of a path in their order. If an option is repeated, the last one counts. The options of a preset
/// replace its name.
struct ImgproxyReader {
    private(set) var draft = ImgproxyDraft()
    private let presets: ImgproxyPresets
    private let table: OptionTable<ImgproxyArguments, ImgproxyDraft>
    private var optionCount = 0
    private var presetCount = 0
    private var hasOtherOptions = false
    /// The presets that are being expanded.
    private var open: [String] = []

    /// The most options of a path, including the options of its presets.
    private static let maxOptions = 500

    init(
        presets: ImgproxyPresets,
        table: OptionTable<ImgproxyArguments, ImgproxyDraft> = ImgproxyTable.image
    ) {
        self.presets = presets
        self.table = table
    }

    /// Whether presets alone determine the image, apart from its format.
    var hasOnlyPresets: Bool { presetCount > 0 && !hasOtherOptions }

    /// Applies the preset that every path begins with.
    mutating func applyDefaultPreset() throws(InvalidParameter) {
        if presets.definitions["default"] != nil { try applyPreset("default") }
    }

    mutating func readOptions(_ segments: [Substring]) throws(InvalidParameter) -> ArraySlice<Substring> {
        let (options, rest) = ImgproxyOption.split(segments)
        if rest.first == "-" {
            throw InvalidParameter("-", "Chained pipelines are not supported.")
        }
        for option in options { try apply(option) }
        return rest
    }

    /// Reads the names of presets in the first segment, and returns the segments of the source.
    mutating func readPresets(_ segments: [Substring]) throws(InvalidParameter) -> ArraySlice<Substring> {
        for name in segments[0].split(separator: ":", omittingEmptySubsequences: false) {
            try applyPreset(name)
        }
        return segments.dropFirst()
    }

    /// Applies the extension of the source, which overrides the option `format`.
    mutating func applyExtension(_ format: String) throws(InvalidParameter) {
        guard !draft.isRaw else { return }
        try draft.setFormat(format, of: "extension")
    }

    private mutating func apply(_ option: ImgproxyOption) throws(InvalidParameter) {
        optionCount += 1
        try require(optionCount <= Self.maxOptions, "path", "The path may have at most \(Self.maxOptions) options.")
        if option.name == "preset" || option.name == "pr" {
            for name in option.arguments { try applyPreset(name) }
            return
        }
        if open.isEmpty { hasOtherOptions = true }
        let arguments = ImgproxyArguments(option: option.name, texts: option.arguments)
        try table.apply(option.name, arguments, to: &draft)
    }

    mutating func applyPreset(_ name: Substring) throws(InvalidParameter) {
        let name = String(name)
        guard let options = presets.definitions[name] else {
            let hint = NameSuggestions.sentence(for: name, among: presets.definitions.keys.sorted())
            throw InvalidParameter(
                "preset", "There is no imgproxy preset '\(InvalidParameter.clipped(name))' on this server.\(hint)")
        }
        presetCount += 1
        // A preset within itself changes nothing.
        guard !open.contains(name) else { return }
        open.append(name)
        defer { open.removeLast() }
        for option in options { try apply(option) }
    }
}
