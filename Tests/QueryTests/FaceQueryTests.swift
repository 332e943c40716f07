import DarkroomRequests
import Testing

@testable import DarkroomQuery

/// `a=face`, `facezoom`, `redact` and `fields=faces`.
struct FaceQueryTests {
    private static func parse(_ query: String, findsFaces: Bool = true) throws(InvalidParameter) -> ImageQuery {
        var limits = QueryLimits()
        limits.findsFaces = findsFaces
        return try ImageQueryGrammar(limits: limits).parse("url=http://a.org/a&\(query)")
    }

    @Test(arguments: [
        ("w=9&h=9&fit=cover&a=face", FaceFocus(.largest)), ("w=9&h=9&fit=cover&a=faces", FaceFocus(.all)),
        ("w=9&h=9&fit=cover&a=FACE&facezoom=0.25", FaceFocus(.largest, zoom: 0.25)),
    ])
    func `A crop to faces is read and written`(query: String, focus: FaceFocus) throws {
        let image = try Self.parse(query)
        #expect(image.recipe.position == .faces(focus))
        let written = CanonicalQuery(image, limits: QueryLimits()).text
        #expect(try ImageQueryGrammar().parse(written) == image)
    }

    @Test func `A zoom requires faces, and faces exclude a focal point`() {
        for (query, parameter) in [
            ("facezoom=0.5", "facezoom"), ("a=attention&facezoom=1", "facezoom"), ("a=face&fpx=0.1", "fpx"),
            ("a=face&facezoom=1.5", "facezoom"),
        ] {
            let error = #expect(throws: InvalidParameter.self) { try Self.parse(query) }
            #expect(error?.parameter == parameter)
        }
    }

    @Test(arguments: [
        ("face", "face", Redaction.Style.blur), ("face:blur", "face", .blur),
        ("face:pixelate", "face:pixelate", .pixelate), ("FACE:Pixelate", "face:pixelate", .pixelate),
        ("face:f00", "face:ff0000", .cover(Color(red: 255, green: 0, blue: 0, alpha: 255))),
        ("face:00ff0000", "face:00ff00", .cover(Color(red: 0, green: 255, blue: 0, alpha: 255))),
    ])
    func `A redaction is read and written`(text: String, canonical: String, style: Redaction.Style) throws {
        let image = try Self.parse("redact=\(text)")
        #expect(image.recipe.redaction?.style == style)
        let written = CanonicalQuery(image, limits: QueryLimits()).text
        #expect(
            written.contains("redact=\(canonical)")
                || written.contains("redact=\(canonical.replacing(":", with: "%3A"))"))
    }

    @Test(arguments: ["redact=eyes", "redact=face:", "redact=face:none", "redact"])
    func `Another redaction is refused`(query: String) {
        let error = #expect(throws: InvalidParameter.self) { try Self.parse(query) }
        #expect(error?.parameter == "redact")
    }

    @Test func `A redirect to the source, which shows the faces, is refused`() throws {
        let error = #expect(throws: InvalidParameter.self) { try Self.parse("redact=face&default=1") }
        #expect(error?.parameter == "default")
        #expect(try Self.parse("redact=face&default=http://a.org/b").fallback != nil)
    }

    @Test(arguments: ["none", "1", "6"])
    func `It requires the upright image, in which faces are found`(orientation: String) throws {
        let error = #expect(throws: InvalidParameter.self) { try Self.parse("redact=face&orient=\(orientation)") }
        #expect(error?.parameter == "orient")
        #expect(try Self.parse("redact=face&orient=auto").recipe.redaction != nil)
    }

    @Test(arguments: [
        ("w=9&h=9&fit=cover&a=face", "a"), ("a=faces", "a"), ("redact=face", "redact"),
        ("output=json&fields=color,faces", "fields"),
        ("rules=imgproxy&w=9&h=9&layout=fill,gravity:faces", "layout"),
        ("rules=imgproxy&w=9&layout=crop:9:9:face", "layout"),
    ])
    func `A server that looks for no faces names the setting`(query: String, parameter: String) throws {
        _ = try Self.parse(query)
        let error = #expect(throws: InvalidParameter.self) { try Self.parse(query, findsFaces: false) }
        #expect(error?.parameter == parameter && error?.detail.contains("setting faces") == true)
    }

    @Test func `All details of a document are without faces`() throws {
        #expect(try Self.parse("output=json&fields=all", findsFaces: false).output.details == .all)
        #expect(try Self.parse("output=json&fields=all,faces").output.details == [.all, .faces])
    }
}
