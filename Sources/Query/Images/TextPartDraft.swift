import DarkroomRequests

/// A named text while its parameters are read or written. Lengths are before `dpr`.
struct TextPartDraft: Sendable {
    /// Nil = not given.
    var text: String?
    var placing = LayerPlacing()
    /// How the text is set; its own text has no meaning.
    var box = TextBox("")

    fileprivate init() {}

    /// The draft that ``layer(_:_:_:)`` makes this layer of.
    init(writing layer: Layer, _ box: TextBox) {
        (text, self.box, placing) = (box.text, box, LayerPlacing(writing: layer))
    }

    /// The parameters after `text.NAME.`.
    static func table(_ limits: QueryLimits) -> ParameterTable<TextPartDraft> {
        let placing = LayerPlacing.rows(limits).map { Parameter($0, in: \TextPartDraft.placing) }
        return ParameterTable(
            TextBoxParameters.rows.map { Parameter($0, in: \TextPartDraft.box) } + placing, initial: TextPartDraft())
    }

    /// The text as a layer. Its lengths are in device pixels.
    func layer(_ name: String, _ ratio: Hundredths, _ limits: QueryLimits) throws(InvalidParameter) -> Layer {
        let parameter = "text.\(name)"
        guard let text else {
            throw InvalidParameter(
                parameter, "Parameter '\(parameter)' is missing: the text that other parameters place.")
        }
        var box = box
        box.text = text
        box = try TextBoxParameters.finished(box, named: parameter).multiplied(by: ratio, named: parameter)
        return placing.layer(name, .text(box), ratio, limits)
    }
}
