import DarkroomQuery

/// The options of imgproxy. The tables of `docs/imgproxy.md` are generated from these rows.
enum ImgproxyTable {
    typealias Row = OptionRow<ImgproxyArguments, ImgproxyDraft>

    static let image = table(
        sizeRows + geometryRows + colorRows + watermarkRows + metadataRows + outputRows + pageRows + handlingRows
            + securityRows)
    static let information = table(informationRows)

    private static func table(_ rows: [Row]) -> OptionTable<ImgproxyArguments, ImgproxyDraft> {
        OptionTable(rows, refusal: "is not supported")
    }
}

extension OptionRow where Draft == ImgproxyDraft {
    static func parameter(_ names: String..., pro: Bool = false, as text: String, read: @escaping Read) -> Self {
        Self(names: names, isPro: pro, outcome: .parameters(text), read: read)
    }

    /// An option whose only argument becomes one member of the draft.
    static func single<Value>(
        _ names: String..., pro: Bool = false, as text: String,
        _ member: WritableKeyPath<ImgproxyDraft, Value> & Sendable,
        _ read: @escaping @Sendable (ImgproxyArguments) -> (Substring) throws(InvalidParameter) -> Value
    ) -> Self where Arguments == ImgproxyArguments {
        Self(names: names, isPro: pro, outcome: .parameters(text)) { arguments, draft throws(InvalidParameter) in
            draft[keyPath: member] = try read(arguments)(arguments.single())
        }
    }

    /// An option that changes nothing. Its arguments may be checked nevertheless.
    static func ignored(
        _ names: String..., pro: Bool = false, because reason: String, checking read: Read? = nil
    ) -> Self {
        Self(names: names, isPro: pro, outcome: .ignored(reason), read: read)
    }

    static func refused(_ names: String..., pro: Bool = true, because reason: String) -> Self {
        Self(names: names, isPro: pro, outcome: .refused(reason))
    }
}
