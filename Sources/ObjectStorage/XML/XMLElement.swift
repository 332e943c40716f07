/// An element of a document: a name, and text or children.
struct XMLElement: Equatable {
    /// The name without its namespace's prefix.
    var name: String
    /// The text directly inside, with references resolved.
    var text = ""
    var children: [XMLElement] = []

    /// The first child of this name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of the first child of this name.
    func text(of name: String) -> String? { child(name)?.text }
}

/// A document that a store sent.
enum XMLDocument {
    /// The root element.
    static func root(of bytes: [UInt8]) throws(XMLFault) -> XMLElement {
        var reader = XMLReader(bytes)
        return try reader.document()
    }
}

/// The bytes are not an XML document of the kind that stores send.
struct XMLFault: Error, Equatable {
    /// Where the fault was found.
    let offset: Int
}
