package import DarkroomTransforms

/// The format of the result (IIIF Image API 3.0 §4.5).
package struct IIIFFormat: Hashable, Sendable {
    /// As in paths.
    package let name: String
    let output: OutputFormat

    /// All formats, the formats of level 2 first. Names have three letters where a format has such an extension.
    package static let all = OutputFormat.imagesByReach.map { format in
        IIIFFormat(name: format.extensions.first { $0.utf8.count == 3 } ?? format.rawValue, output: format)
    }

    /// The formats that a server can write.
    package static func all(without unwritable: Set<OutputFormat>) -> [IIIFFormat] {
        all.filter { !unwritable.contains($0.output) }
    }

    private init(name: String, output: OutputFormat) {
        self.name = name
        self.output = output
    }

    init(parsing text: String) throws(InvalidParameter) {
        guard let format = Self.all.first(where: { $0.name == text }) else {
            throw InvalidParameter(
                "format", got: text, expected: "one of \(Self.all.map(\.name).joined(separator: ", "))")
        }
        self = format
    }
}
