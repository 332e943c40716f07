import DarkroomQuery

/// The options of imgproxy, one row each: how an option is read, and what becomes of it. The table of
/// `docs/imgproxy.md` is made of these rows.
package struct ImgproxyTable: Sendable {
    package struct Row: Sendable {
        /// The name and its short forms.
        package let names: [String]
        /// Whether the option is one of imgproxy Pro.
        package let isPro: Bool
        package let outcome: OptionOutcome
        let read: @Sendable (ImgproxyArguments, inout ImgproxyDraft) throws(InvalidParameter) -> Void
    }

    package let rows: [Row]
    private let places: [String: Int]

    init(_ rows: [Row]) {
        self.rows = rows
        places = Dictionary(
            rows.enumerated().flatMap { place, row in row.names.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The options of images.
    package static let image = ImgproxyTable(
        sizeRows + geometryRows + colorRows + watermarkRows + metadataRows + outputRows + pageRows + handlingRows
            + securityRows)
    /// The options of `/info`.
    package static let information = ImgproxyTable(informationRows)

    func apply(_ option: ImgproxyOption, to draft: inout ImgproxyDraft) throws(InvalidParameter) {
        guard let place = places[option.name] else {
            let hint = NameSuggestions.sentence(for: option.name, among: places.keys.sorted())
            throw InvalidParameter(
                option.name,
                "There is no option '\(InvalidParameter.clipped(option.name))'.\(hint) See docs/imgproxy.md.")
        }
        let row = rows[place]
        let arguments = ImgproxyArguments(option: option.name, texts: option.arguments)
        switch row.outcome {
        case .parameters: try row.read(arguments, &draft)
        case .ignored(let reason):
            try row.read(arguments, &draft)
            draft.ignore(option.name, reason)
        case .refused(let reason):
            throw InvalidParameter(
                option.name,
                "Option '\(InvalidParameter.clipped(option.name))' is not supported: \(reason) See docs/imgproxy.md.")
        }
    }
}

extension ImgproxyTable.Row {
    typealias Read = @Sendable (ImgproxyArguments, inout ImgproxyDraft) throws(InvalidParameter) -> Void

    static func parameter(
        _ names: String..., pro: Bool = false, as text: String, read: @escaping Read
    ) -> ImgproxyTable.Row {
        .init(names: names, isPro: pro, outcome: .parameters(text), read: read)
    }

    static func ignored(
        _ names: String..., pro: Bool = false, because reason: String,
        checking read: @escaping Read = { _, _ throws(InvalidParameter) in }
    ) -> ImgproxyTable.Row {
        .init(names: names, isPro: pro, outcome: .ignored(reason), read: read)
    }

    static func refused(_ names: String..., pro: Bool = true, because reason: String) -> ImgproxyTable.Row {
        .init(names: names, isPro: pro, outcome: .refused(reason)) { _, _ throws(InvalidParameter) in }
    }
}
