import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomQuery

/// Named images: `mark.NAME=URL` and `mark.NAME.PARAM=value`.
struct PartParametersTests {
    private let grammar = ImageQueryGrammar()

    private func parse(_ text: String) throws -> ImageQuery { try grammar.parse("url=https://a.org/x&" + text) }

    private func layer(_ text: String) throws -> Layer {
        try #require(parse("mark.a=logo&" + text).recipe.layers.first)
    }

    private func recipe(_ text: String) throws -> Recipe {
        guard case .picture(let picture) = try layer(text).content else { return Recipe() }
        return picture.recipe
    }

    @Test func `Images are listed in the order of their names, whatever the order of parameters`() throws {
        let query = try parse("mark.b=logo&mark.a.w=9&mark.c=https://b.org/c&mark.a=seal")
        #expect(query.recipe.layers.map(\.name) == ["a", "b", "c"])
        #expect(query.parts.map(\.source) == ["seal", "logo", "https://b.org/c"])
        let ordered = try parse("layers=c,a,b&mark.b=logo&mark.a=seal&mark.c=logo")
        #expect(ordered.recipe.layers.map(\.name) == ["c", "a", "b"])
    }

    @Test(arguments: [
        ("", Place(.center), Place(.center)),
        (
            "mark.a.place=top-right&mark.a.x=-5&mark.a.y=2.5p", Place(.end, distance: .pixels(-5)),
            Place(.start, distance: .percent(2.5))
        ),
        ("mark.a.place=bottom&mark.a.x=5&dpr=2", Place(.center, distance: .pixels(10)), Place(.end)),
    ])
    func `A layer lies at its place`(text: String, x: Place, y: Place) throws {
        let layer = try layer(text)
        #expect(layer.x == x && layer.y == y && layer.opacity == 100 && layer.blend == .over)
    }

    @Test func `An image is made by the parameters of an image`() throws {
        let made = try recipe(
            "mark.a.w=50p&mark.a.h=20&mark.a.fit=cover&mark.a.radius=8&mark.a.ro=30&mark.a.blur=1&dpr=2")
        #expect(made.box.horizontal == .percent(50) && made.box.vertical == .pixels(40))
        #expect(made.fit == .cover && made.enlarge && made.rotationDegrees == 30)
        #expect(made.radius == CornerRadii(.pixels(16)) && made.blur == Blur(sigma: 2))
        let layer = try layer("mark.a.alpha=40&mark.a.blend=screen")
        #expect(layer.opacity == 40 && layer.blend == .screen)
    }

    @Test(arguments: [
        "mark.a=logo", "mark.a=logo&mark.b=seal&layers=b,a",
        "mark.a=logo&mark.a.w=50p&mark.a.h=20&mark.a.fit=cover&mark.a.a=focal&mark.a.fpx=0.1&dpr=2",
        "mark.a=https://a.org/b&mark.a.default=logo&mark.a.onerror=omit&mark.a.place=top-left&mark.a.x=5",
        "mark.a=logo&mark.a.trim=5&mark.a.tbg=fff&mark.a.sharp=2&mark.a.sharpf=3&mark.a.mask=star&mark.a.mbg=00f",
        "mark.a=logo&steps=mark:l:t:-:-:100:over:inside:a,blur:2,mark:c:c:-:-:100:over:inside:a",
        "mark=logo&mark.a=seal&markw=5", "text.t=A%0Ab&mark.a=logo&layers=t,a",
        "text.t=A&text.t.w=50p&text.t.fit=true&text.t.place=top&text.t.x=-3&text.t.bg=000&text.t.radius=4&dpr=2",
    ])
    func `The canonical query has the same meaning`(text: String) throws {
        let query = try parse(text)
        let canonical = CanonicalQuery(query, limits: grammar.limits)
        #expect(try grammar.parse(canonical.text) == query, "\(canonical.text)")
        #expect(try CanonicalQuery(grammar.parse(canonical.text), limits: grammar.limits) == canonical)
    }

    @Test func `Equal requests have one canonical query`() throws {
        let spelled = try parse("mark.a.place=center&mark.a.alpha=100&mark.a=logo&layers=a&mark.a.fit=fill&mark.a.w=10")
        let plain = try parse("mark.a.w=10&mark.a=logo")
        #expect(CanonicalQuery(spelled, limits: grammar.limits) == CanonicalQuery(plain, limits: grammar.limits))
        #expect(
            CanonicalQuery(plain, limits: grammar.limits).text == "url=https%3A%2F%2Fa.org%2Fx&mark.a=logo&mark.a.w=10")
    }

    @Test(arguments: [
        ("mark.a.w=5", "mark.a", "'mark.a' is missing"), ("mark.A=logo", "mark.A", "1 to 32 lowercase letters"),
        ("mark.=logo", "mark.", "1 to 32"), ("mark.a=", "mark.a", "got no value"), ("mark.a=a b", "mark.a", "URL"),
        ("mark.a=logo&mark.a=seal", "mark.a", "only once"),
        ("mark.a=logo&mark.a.w=0", "mark.a.w", "Parameter 'mark.a.w' must be an integer"),
        ("mark.a=logo&mark.a.raduis=1", "mark.a.raduis", "Did you mean 'mark.a.radius'?"),
        ("mark.a=logo&mark.a.tbg=fff", "mark.a.tbg", "For 'mark.a': Parameter 'tbg' requires 'trim'."),
        ("mark.a=logo&mark.a.mark=logo", "mark.a.mark", "no parameter"),
        ("mark.a=logo&mark.a.mark.b=logo", "mark.a.mark.b", "no parameter"),
        ("mark.a=logo&layers=b", "layers", "'b', which requires 'mark.b'"),
        ("mark.a=logo&mark.b=seal&layers=a", "layers", "'b' is missing"), ("layers=a,a", "layers", "each once"),
        ("mark.a=logo&steps=mark:l:t:-:-:100:over:inside:b", "steps", "requires 'mark.b'"),
        ("mark.a=logo&mark.a.w=5&steps=mark:l:t:-:-:100:over:inside:a", "mark.a.w", "does not apply"),
        ("mark.a=logo&mark.a.border=500&dpr=4", "dpr", "border"),
    ])
    func `A part that means nothing is refused with its name`(text: String, parameter: String, detail: String) {
        let error = #expect(throws: InvalidParameter.self) { try parse(text) }
        #expect(error?.parameter == parameter)
        #expect(error?.detail.contains(detail) == true, "\(error?.detail ?? "")")
    }

    @Test func `Texts are drawn after images, unless 'layers' says otherwise`() throws {
        let query = try parse("text.b=B&text.a=A&mark.z=logo&text.a.size=20&dpr=2")
        #expect(query.recipe.layers.map(\.name) == ["z", "a", "b"])
        guard case .text(let box) = query.recipe.layers[1].content else { return }
        #expect(box.text == "A" && box.size == 40)
        #expect(try parse("layers=b,z,a&text.b=B&text.a=A&mark.z=logo").recipe.layers.map(\.name) == ["b", "z", "a"])
    }

    @Test(arguments: [
        ("text.a.w=5", "text.a", "'text.a' is missing"), ("text.a=", "text.a", "got no value"),
        ("text.a=\(String(repeating: "a", count: 10_240))", "text.a", "1 to 500 characters"),
        ("text.a=A&text.a.sise=1", "text.a.sise", "Did you mean 'text.a.size'?"),
        ("text.a=A&text.a.radius=1", "text.a.radius", "requires 'text.a.bg'"),
        ("text.a=A&mark.a=logo", "text.a", "different names"), ("text.a=A&text.a.size=999&dpr=2", "dpr", "'text.a'"),
    ])
    func `A text that means nothing is refused with its name`(text: String, parameter: String, detail: String) {
        let error = #expect(throws: InvalidParameter.self) { try parse(text) }
        #expect(error?.parameter == parameter)
        #expect(error?.detail.contains(detail) == true, "\(error?.detail ?? "")")
    }

    @Test func `A thousand images, and nine URLs, are refused`() throws {
        func names(_ count: Int, _ url: (Int) -> String) -> String {
            (1...count).map { "mark.n\($0)=\(url($0))" }.joined(separator: "&")
        }
        let many = #expect(throws: InvalidParameter.self) { try parse(names(1_000) { _ in "logo" }) }
        #expect(many?.detail == "A request must have at most 16 named images and texts.")
        #expect(try parse(names(16) { _ in "logo" }).recipe.layers.count == 16)
        let sources = #expect(throws: InvalidParameter.self) { try parse(names(9) { "https://a.org/\($0)" }) }
        #expect(sources?.detail.hasSuffix("at most 8 different URLs, got 9.") == true)
        #expect(try parse(names(8) { "https://a.org/\($0)" }).parts.count == 8)
    }

    @Test func `Images of a request are named, trusted by name, and may have fallbacks`() throws {
        var map = SourceMap()
        try map.addMark("logo", "local:///logo.png")
        let query = try parse("mark=logo&mark.a=https://b.org/c&mark.a.default=logo&mark.b=logo&mark.b.onerror=omit")
        let parts = try query.sourceRequest(map).parts
        #expect(parts.map(\.name) == ["", "a", "b"] && parts.map(\.isTrusted) == [true, false, true])
        #expect(parts.map { $0.fallback?.canonical } == [nil, "local:///logo.png", nil])
        #expect(parts[1].isFallbackTrusted && parts.map(\.mayBeLeftOut) == [false, false, true])
        let unknown = try parse("mark.a=lgo")
        let error = #expect(throws: InvalidSourceURL.self) { try unknown.sourceRequest(map) }
        #expect(error?.parameter == "mark.a" && error?.detail.contains("'logo'") == true)
    }

    @Test(arguments: [
        ("mark.a=https://a.org/b", nil), ("mark.a=https://b.org/c", "mark.a"),
        ("mark.a=https://a.org/b&mark.a.default=https://b.org/c", "mark.a.default"),
    ])
    func `A key's hosts apply to every image`(text: String, parameter: String?) throws {
        let key = try SigningKey(id: "k", secret: String(repeating: "s", count: 32), hosts: ["a.org"])
        let request = try parse(text).sourceRequest(SourceMap())
        guard let parameter else { return try Authorization(key: key).requireSources(of: request) }
        #expect(throws: AuthorizationError.sourceNotAllowed(parameter: parameter)) {
            try Authorization(key: key).requireSources(of: request)
        }
    }

    @Test func `Endpoints without images have no named images`() {
        #expect(throws: InvalidParameter.self) {
            try ImageQueryGrammar.info().parse("url=https://a.org/x&mark.a=logo")
        }
        #expect(throws: InvalidParameter.self) { try FileQuery([("mark.a", "logo")]) }
    }

    @Test func `The library writes the URL of a request with named images`() throws {
        var request = try ImageRequest(url: "https://a.org/x")
        var layer = Layer("photo", .picture(Picture(.init())), x: Place(.start), y: Place(.end))
        if case .picture(var picture) = layer.content {
            (picture.recipe.box, picture.recipe.enlarge) = (Box(width: 30, height: nil), true)
            layer.content = .picture(picture)
        }
        request.recipe.layers = [layer]
        request.parts = [PartImage("photo", try SourceURL(parsing: "https://b.org/y"))]
        #expect(
            try ImageServerURLs().url(for: request)
                == "/image?url=https%3A%2F%2Fa.org%2Fx&mark.photo=https%3A%2F%2Fb.org%2Fy&mark.photo.w=30"
                + "&mark.photo.place=bottom-left")
    }
}
