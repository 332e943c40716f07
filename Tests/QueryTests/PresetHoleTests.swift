import DarkroomRequests
import Foundation
import Testing

@testable import DarkroomQuery

/// Presets that leave images to their requests.
struct PresetHoleTests {
    private func authorizer(isOnly: Bool = false) throws -> Authorizer {
        var presets = Presets()
        try presets.add(
            "card", "w=90&mark.photo.w=40&mark.photo.place=left&mark.logo=logo&text.title.size=9&text.note=New",
            limits: QueryLimits())
        return Authorizer(keys: [], presets: presets, presetsOnly: isOnly)
    }

    private func query(_ text: String, isOnly: Bool = false) throws -> ImageQuery {
        let given = try QueryString(parsing: "url=https://a.org/x&preset=card&" + text)
        let authorization = try authorizer(isOnly: isOnly).authorize(
            given, path: "/image", presets: .accepted, isAdmin: false)
        return try ImageQueryGrammar().parse(authorization.query)
    }

    @Test(arguments: [false, true]) func `A request fills the hole of a preset`(isOnly: Bool) throws {
        let query = try query("mark.photo=https://a.org/p&text.title=Hello", isOnly: isOnly)
        #expect(query.parts.map(\.name) == ["logo", "photo"])
        #expect(query.recipe.layers.map(\.name) == ["logo", "photo", "note", "title"])
        #expect(query.recipe.layers[1].x == Place(.start))
    }

    @Test func `A request without the hole's value is told what the preset needs`() throws {
        let error = #expect(throws: AuthorizationError.self) { try query("text.title=Hello") }
        #expect(error?.parameter == "mark.photo")
        #expect(error?.detail == "This preset needs 'mark.photo': the URL of an image, or the name of a mark.")
        let text = #expect(throws: AuthorizationError.self) { try query("mark.photo=https://a.org/p") }
        #expect(text?.detail == "This preset needs 'text.title': a text.")
    }

    @Test(arguments: ["mark.photo.w=5", "mark.other=logo", "mark.logo=logo", "text.note=Old"])
    func `A server with presets only takes nothing but the holes`(text: String) throws {
        let error = #expect(throws: AuthorizationError.self) {
            try query("mark.photo=https://a.org/p&text.title=a&\(text)", isOnly: true)
        }
        #expect(error == .presetsOnly(parameter: String(text.prefix { $0 != "=" })))
    }

    @Test func `A preset with an impossible layout is refused at once`() {
        var presets = Presets()
        #expect(throws: Presets.Flaw.self) { try presets.add("a", "mark.photo.w=0", limits: QueryLimits()) }
        #expect(throws: Presets.Flaw.self) { try presets.add("b", "layers=photo", limits: QueryLimits()) }
    }

    @Test func `An unknown parameter of a preset is not taken for a part of a source`() {
        var presets = Presets()
        let error = #expect(throws: Presets.Flaw.self) { try presets.add("a", "w=5&zzzz=1", limits: QueryLimits()) }
        #expect(error?.description == "the preset 'a' is invalid: There is no parameter 'zzzz'.")
    }
}
