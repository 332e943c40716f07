/// One row of a grammar: a name, the shape of its values, and where in a draft a value goes.
struct Parameter<Draft>: Sendable {
    let name: String
    let shape: Shape
    /// Whether the name may stand without a value.
    let mayBeBare: Bool
    /// What leaving it out comes to, as a value that may be given; nil where that is none (`w`) or depends (`q`).
    let standard: String?
    /// Puts a value into a draft.
    let assign: @Sendable (String?, inout Draft) throws(InvalidParameter) -> Void

    init<Value>(
        _ name: String, _ form: Form<Value>, standard: String? = nil,
        into place: @escaping @Sendable (inout Draft, Value) -> Void
    ) {
        self.name = name
        self.shape = form.shape
        self.standard = standard
        mayBeBare = form.bare != nil
        let allowed = form.shape.allowed + (form.bare == nil ? "" : ", or nothing at all")
        assign = { text, draft throws(InvalidParameter) in
            let isBare = text?.isEmpty ?? true
            guard let value = isBare ? form.bare : text.flatMap(form.read) else {
                throw InvalidParameter(name, given: text, allowed: allowed)
            }
            place(&draft, value)
        }
    }

    private init<Part>(_ parameter: Parameter<Part>, in path: WritableKeyPath<Draft, Part> & Sendable) {
        name = parameter.name
        shape = parameter.shape
        mayBeBare = parameter.mayBeBare
        standard = parameter.standard
        assign = { text, draft throws(InvalidParameter) in try parameter.assign(text, &draft[keyPath: path]) }
    }

    /// The same row for drafts of which the draft is a part.
    func within<Whole>(_ path: WritableKeyPath<Whole, Draft> & Sendable) -> Parameter<Whole> {
        Parameter<Whole>(self, in: path)
    }
}
