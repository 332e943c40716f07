import DarkroomTransforms

/// The names and formats of results in a folder. Both follow from the name of the input alone, so that the names are
/// known before any file is read.
struct ResultName: Sendable {
    /// The format of all results; nil = the format of each input's extension.
    let format: OutputFormat?

    /// The format of the result of an input.
    func format(for name: String) -> OutputFormat {
        if let format { return format }
        let suffix = Self.halves(of: name).suffix.lowercased()
        if let format = Self.formats[suffix], format.isAvailable { return format }
        // PNG loses nothing, whatever the input turns out to be. HEIC files are photographs.
        return SourceFormat.heic.extensions.contains(suffix) ? .jpeg : .png
    }

    /// The input's name with the extension of its result. An extension that means the format already stays as it is
    /// spelled, and one that means no image, such as `.v2` of `photo.v2`, is part of the name.
    func name(for name: String) -> String {
        let format = format(for: name)
        let (stem, suffix) = Self.halves(of: name)
        let known = suffix.lowercased()
        if Self.formats[known] == format { return name }
        let isReplaced = Self.formats[known] != nil || Self.otherInputs.contains(known)
        return "\(isReplaced ? stem : name).\(format.extensions.first ?? format.rawValue)"
    }

    /// The formats of extensions.
    private static let formats: [String: OutputFormat] = Dictionary(
        OutputFormat.allCases.filter { !$0.isText }.flatMap { format in format.extensions.map { ($0, format) } },
        uniquingKeysWith: { first, _ in first })

    /// Extensions of images that are read and never written.
    private static let otherInputs = Set(SourceFormat.allCases.flatMap(\.extensions))

    private static func halves(of name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...].dropFirst()))
    }
}
