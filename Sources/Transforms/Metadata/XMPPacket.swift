/// The Dublin Core texts of an XMP packet (ISO 16684-1): `rights`, `creator`, `description`.
///
/// A property is found by its namespace and its place, whatever prefix the file chose: an attribute or a child element
/// of an `rdf:Description` that is itself a child of `rdf:RDF`. Of a language alternative or a list the first text
/// counts. Reading ends at the first violation of XML's rules; properties that were complete by then count.
struct XMPPacket {
    /// Reads at most the first 256 KiB.
    init(_ packet: some Collection<UInt8>) {
        var tokens = XMLTokenizer(Array(packet.prefix(Self.maxBytes)))
        while let token = tokens.next(), accept(token) {}
    }

    /// A property of Dublin Core by its local name, such as `rights`.
    subscript(property: String) -> String? { texts[property] }

    private struct Element {
        let qualifiedName: Substring
        let name: ExpandedName
        /// Prefixes declared on this element; the empty prefix is the default namespace.
        let namespaces: [Substring: String]
    }

    private struct ExpandedName: Equatable {
        let namespace: String?
        let local: Substring
    }

    /// The first text of each Dublin Core property, by its local name.
    private var texts: [String: String] = [:]
    /// The elements that are open.
    private var elements: [Element] = []
    /// The Dublin Core property that is open, and its depth.
    private var property: (name: Substring, depth: Int)?
    /// Text since the last tag, inside a property.
    private var text = ""

    private static let maxBytes = 262_144
    private static let maxDepth = 32
    private static let dublinCore = "http://purl.org/dc/elements/1.1/"
    private static let syntax = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let rdf = ExpandedName(namespace: syntax, local: "RDF")
    private static let description = ExpandedName(namespace: syntax, local: "Description")

    /// False if the packet is not well-formed, too deep, or at its end.
    private mutating func accept(_ token: XMLTokenizer.Token) -> Bool {
        switch token {
        case .text(let characters):
            if property != nil { text += characters }
            return true
        case .open(let name, let attributes, let isEmpty):
            storeText()
            guard open(name, attributes) else { return false }
            return isEmpty ? close(name) : true
        case .close(let name):
            return close(name)
        }
    }

    private mutating func open(_ name: Substring, _ attributes: [(name: Substring, value: String)]) -> Bool {
        guard elements.count < Self.maxDepth else { return false }
        var namespaces: [Substring: String] = [:]
        for (name, value) in attributes {
            if name == "xmlns" { namespaces[""] = value }
            if name.hasPrefix("xmlns:") { namespaces[name.dropFirst(6)] = value }
        }
        let scope = elements.map(\.namespaces) + [namespaces]
        let element = Element(
            qualifiedName: name, name: Self.expand(name, scope, default: ""), namespaces: namespaces)
        elements.append(element)
        if property == nil, element.name.namespace == Self.dublinCore, isDescription(at: elements.count - 2) {
            property = (element.name.local, elements.count)
        }
        guard isDescription(at: elements.count - 1) else { return true }
        for (name, value) in attributes where !name.hasPrefix("xmlns") {
            // A name without a prefix has no namespace when it is an attribute's (Namespaces in XML §6.2).
            let expanded = Self.expand(name, scope, default: nil)
            if expanded.namespace == Self.dublinCore { store(value, for: expanded.local) }
        }
        return true
    }

    private mutating func close(_ name: Substring) -> Bool {
        guard elements.last?.qualifiedName == name else { return false }
        storeText()
        if property?.depth == elements.count { property = nil }
        elements.removeLast()
        return !elements.isEmpty
    }

    /// Whether this is a description of the image itself: a structured value's own description is nested deeper.
    private func isDescription(at index: Int) -> Bool {
        index > 0 && elements[index].name == Self.description && elements[index - 1].name == Self.rdf
            && !elements[..<index].contains { $0.name == Self.description }
    }

    private mutating func storeText() {
        if let property { store(text, for: property.name) }
        text = ""
    }

    private mutating func store(_ text: String, for property: Substring) {
        guard texts[String(property)] == nil, text.contains(where: { !$0.isWhitespace }) else { return }
        texts[String(property)] = text
    }

    private static func expand(
        _ name: Substring, _ scope: [[Substring: String]], default unprefixed: Substring?
    ) -> ExpandedName {
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let prefix = parts.count == 2 ? parts[0] : unprefixed else {
            return ExpandedName(namespace: nil, local: name)
        }
        let namespace = scope.last { $0[prefix] != nil }?[prefix]
        return ExpandedName(namespace: namespace, local: parts.last ?? name)
    }
}
