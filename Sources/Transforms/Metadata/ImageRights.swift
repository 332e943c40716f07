import DarkroomVips
import NIOCore

/// Who made an image and how, and who may use it: what results keep of the metadata of their source by default.
///
/// The first of EXIF, IPTC and XMP that has a text counts. A text has at most ``maxLength`` Unicode scalars; a longer
/// URL is left out, since a part of it would be another URL.
struct ImageRights: Equatable {
    var creator: String?
    var copyright: String?
    /// Who is to be named beside the image.
    var credit: String?
    var usageTerms: String?
    /// The URL of a page with the rights.
    var webStatement: String?
    /// The URL of a page that sells licenses.
    var licensorURL: String?
    /// The kind of source, a URI of IPTC's vocabulary such as
    /// `http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia`.
    var digitalSourceType: String?

    init() {}

    /// - Parameter image: an image with the fields of its source.
    init(of image: VipsImage) {
        // One more than is kept, to tell a long URL.
        let embedded = EmbeddedMetadata(of: image, maxLength: Self.maxLength + 1)
        func text(_ text: String?) -> String? {
            text.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(Self.maxLength))) }
        }
        func url(_ text: String?) -> String? {
            text.flatMap { $0.unicodeScalars.count <= Self.maxLength ? $0 : nil }
        }
        (creator, copyright, credit) = (text(embedded.artist), text(embedded.copyright), text(embedded.credit))
        usageTerms = text(embedded.xmp(.usageTerms))
        (webStatement, licensorURL) = (url(embedded.xmp(.webStatement)), url(embedded.xmp(.licensorURL)))
        digitalSourceType = url(embedded.xmp(.digitalSourceType))
    }

    static let maxLength = 1000

    /// Whether EXIF can hold all of it: creator and copyright, and libvips writes only ASCII.
    var fitsEXIF: Bool {
        var others = self
        (others.creator, others.copyright) = (nil, nil)
        return others == ImageRights() && [creator, copyright].allSatisfy { $0?.allSatisfy(\.isASCII) ?? true }
    }

    /// The same as properties of XMP.
    var properties: [XMPProperty: String] {
        var texts: [XMPProperty: String] = [:]
        (texts[.creator], texts[.rights], texts[.credit]) = (creator, copyright, credit)
        (texts[.usageTerms], texts[.webStatement]) = (usageTerms, webStatement)
        (texts[.licensorURL], texts[.digitalSourceType]) = (licensorURL, digitalSourceType)
        return texts
    }
}

extension XMPPacket {
    /// A packet with only these properties; the texts must be printable. The greatest packet of an image's rights and
    /// description has 50 KB.
    ///
    /// - Parameter description: a further description of the image.
    static func make(_ texts: [XMPProperty: String], and description: String = "") -> ByteBuffer {
        let properties = XMPProperty.allCases.filter { texts[$0] != nil }
        let schemas = XMPProperty.Schema.allCases.filter { schema in properties.contains { $0.schema == schema } }
        let namespaces = schemas.map { " xmlns:\($0.prefix)=\"\($0.rawValue)\"" }.joined()
        let elements = properties.map { element($0, (texts[$0] ?? "").markupEscaped) }.joined()
        let own = "<rdf:Description rdf:about=\"\"\(namespaces)>\(elements)</rdf:Description>"
        return ByteBuffer(
            string: "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(syntax)\">"
                + "\(properties.isEmpty ? "" : own)\(description)</rdf:RDF></x:xmpmeta>")
    }

    private static func element(_ property: XMPProperty, _ text: String) -> String {
        let name = "\(property.schema.prefix):\(property.rawValue)"
        switch property {
        case .creator: return "<\(name)><rdf:Seq><rdf:li>\(text)</rdf:li></rdf:Seq></\(name)>"
        case .rights, .description, .usageTerms:
            return "<\(name)><rdf:Alt><rdf:li xml:lang=\"x-default\">\(text)</rdf:li></rdf:Alt></\(name)>"
        case .licensorURL:
            return "<plus:Licensor><rdf:Seq><rdf:li rdf:parseType=\"Resource\"><\(name)>\(text)</\(name)></rdf:li>"
                + "</rdf:Seq></plus:Licensor>"
        case .credit, .webStatement, .digitalSourceType: return "<\(name)>\(text)</\(name)>"
        }
    }
}
