/// The texts of an XMP packet (ISO 16684-1) about what an image shows, who made it and how, and who may use it.
///
/// A property is found by its namespace and its place, whatever prefix the file chose: an attribute or a child element
/// of an `rdf:Description` that is itself a child of `rdf:RDF`, and for a licensor's URL anything inside of
/// `plus:Licensor` there. Of a language alternative or a list the first text counts; of creators all do. Reading ends
/// at the first violation of XML's rules; properties that were complete by then count.
struct XMPPacket {
    /// Reads at most the first 256 KiB.
    init(_ packet: some Collection<UInt8>) {
        var tokens = XMLTokenizer(Array(packet.prefix(Self.maxBytes)))
        while let token = tokens.next(), accept(token) {}
    }

    /// The text of a property. Creators are separated by semicolons, as in EXIF.
    subscript(property: XMPProperty) -> String? { texts[property]?.joined(separator: "; ") }

    private struct Element {
        let qualifiedName: Substring
        let name: ExpandedName
        /// Prefixes declared on this element; the empty prefix is the default namespace.
        let namespaces: [Substring: String]
    }

    private struct ExpandedName: Hashable {
        let namespace: String?
        let local: Substring

        init(namespace: String?, local: Substring) {
            (self.namespace, self.local) = (namespace, local)
        }

        init(_ property: XMPProperty) {
            self.init(namespace: property.schema.rawValue, local: property.rawValue[...])
        }
    }

    /// The texts of each property: one, or several creators.
    private var texts: [XMPProperty: [String]] = [:]
    private var elements: [Element] = []
    private var property: (name: XMPProperty, depth: Int)?
    /// Text since the last tag, inside a property.
    private var text = ""

    private static let maxBytes = 262_144
    static let syntax = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let maxDepth = 32
    private static let rdf = ExpandedName(namespace: syntax, local: "RDF")
    private static let description = ExpandedName(namespace: syntax, local: "Description")
    /// An attribute with the value of a property that is a URI.
    private static let resource = ExpandedName(namespace: syntax, local: "resource")
    private static let licensor = ExpandedName(namespace: XMPProperty.Schema.plus.rawValue, local: "Licensor")
    private static let properties = Dictionary(
        uniqueKeysWithValues: XMPProperty.allCases.map { (ExpandedName($0), $0) })

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
        if property == nil, let name = knownProperty(element.name, in: elements.count - 2) {
            property = (name, elements.count)
        }
        for (name, value) in attributes where !name.hasPrefix("xmlns") {
            // A name without a prefix has no namespace when it is an attribute's (Namespaces in XML §6.2).
            let expanded = Self.expand(name, scope, default: nil)
            if let property, property.depth == elements.count, expanded == Self.resource {
                store(value, for: property.name)
            } else if let name = knownProperty(expanded, in: elements.count - 1) {
                store(value, for: name)
            }
        }
        return true
    }

    /// The property that an element or attribute of this name has in an element.
    private func knownProperty(_ name: ExpandedName, in index: Int) -> XMPProperty? {
        guard let property = Self.properties[name] else { return nil }
        let isInPlace = property == .licensorURL ? isLicensor(at: index) : isDescription(at: index)
        return isInPlace ? property : nil
    }

    /// Whether this is a licensor of the image, or a part of one.
    private func isLicensor(at index: Int) -> Bool {
        (0...max(index, 0)).contains { elements[$0].name == Self.licensor && isDescription(at: $0 - 1) }
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

    private mutating func store(_ text: String, for property: XMPProperty) {
        guard texts[property] == nil || property == .creator, text.contains(where: { !$0.isWhitespace }) else { return }
        texts[property, default: []].append(text)
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

/// The properties that are read from XMP packets and written into them, by their names in their schemas.
enum XMPProperty: String, CaseIterable {
    case creator, rights, description
    case credit = "Credit"
    case usageTerms = "UsageTerms"
    case webStatement = "WebStatement"
    case licensorURL = "LicensorURL"
    case digitalSourceType = "DigitalSourceType"

    /// The schemas' namespaces: Dublin Core, Photoshop, XMP Rights Management, PLUS, and IPTC Extension.
    enum Schema: String, CaseIterable {
        case dublinCore = "http://purl.org/dc/elements/1.1/"
        case photoshop = "http://ns.adobe.com/photoshop/1.0/"
        case rights = "http://ns.adobe.com/xap/1.0/rights/"
        case plus = "http://ns.useplus.org/ldf/xmp/1.0/"
        case iptc = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"

        /// The preferred prefix.
        var prefix: String {
            switch self {
            case .dublinCore: "dc"
            case .photoshop: "photoshop"
            case .rights: "xmpRights"
            case .plus: "plus"
            case .iptc: "Iptc4xmpExt"
            }
        }
    }

    var schema: Schema {
        switch self {
        case .creator, .rights, .description: .dublinCore
        case .credit: .photoshop
        case .usageTerms, .webStatement: .rights
        case .licensorURL: .plus
        case .digitalSourceType: .iptc
        }
    }
}
