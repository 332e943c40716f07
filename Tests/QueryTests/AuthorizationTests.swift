import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import DarkroomTestRandom
import Foundation
import Testing

@testable import DarkroomQuery

/// The decision who may ask for what. Its HTTP responses are tested in the room Web.
struct AuthorizationTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let source = "url=https%3A%2F%2Fexample.com%2Fa.jpg"

    private func key(_ id: String = "k1", hosts: [String] = [], presets: Set<String>? = nil) throws -> SigningKey {
        try SigningKey(id: id, secret: String(repeating: "secret-", count: 6) + id, hosts: hosts, presets: presets)
    }

    private func authorizer(_ keys: SigningKey..., presetsOnly: Bool = false) throws -> Authorizer {
        var presets = Presets()
        try presets.add("avatar", "w=96&h=96&fit=cover", limits: QueryLimits())
        return Authorizer(keys: keys, presets: presets, presetsOnly: presetsOnly)
    }

    private func signed(_ query: String, by key: SigningKey, path: String = "/image") throws -> QueryString {
        var parameters = try QueryString(parsing: query)
        let signature = key.sign(SignedRequest(path: path, parameters: parameters))
        parameters.append("s", signature.text)
        return parameters
    }

    @Test func `Without keys every request is authorized as it is`() throws {
        let query = try QueryString(parsing: source + "&w=9")
        let authorization = try authorizer().authorize(query, path: "/image", presets: .accepted, isAdmin: false)
        #expect(authorization.query == query)
        #expect(authorization.key == nil && !authorization.isPersonal)
    }

    @Test func `With keys a request needs a signature or the admin token`() throws {
        let key = try key()
        let authorizer = try authorizer(key)
        let query = try QueryString(parsing: source)
        #expect(throws: AuthorizationError.signatureRequired) {
            try authorizer.authorize(query, path: "/image", presets: .accepted, isAdmin: false)
        }
        #expect(try authorizer.authorize(query, path: "/image", presets: .accepted, isAdmin: true).isPersonal)
        let signed = try signed(source, by: key)
        let authorization = try authorizer.authorize(signed, path: "/image", presets: .accepted, isAdmin: false)
        #expect(authorization.key == key)
        #expect(authorization.query == query)
        #expect(throws: AuthorizationError.signatureWrong) {
            try authorizer.authorize(signed, path: "/info", presets: .irrelevant, isAdmin: true)
        }
    }

    /// wsrv.nl has several names for a parameter, of which the first counts.
    @Test func `The order of a signed query changes nothing, although the order of its parameters may`() throws {
        let key = try key()
        let authorizer = try authorizer(key)
        let grammar = ImageQueryGrammar(limits: QueryLimits(), dialect: .wsrv)
        let signed = try signed("compat=wsrv&\(source)&w=300&width=90&fit=cover&t=squaredown&trim&flip=", by: key)
        func image(_ query: QueryString) throws -> ImageQuery {
            try grammar.parse(
                authorizer.authorize(query, path: "/image", presets: .unsupported, isAdmin: false).query)
        }
        let expected = try image(signed)
        var numbers = SeededRandom(seed: 5)
        for _ in 0..<50 {
            let shuffled = QueryString(pairs: signed.pairs.shuffled(using: &numbers))
            #expect(try image(shuffled) == expected, "\(shuffled.text)")
        }
        let bare = QueryString(pairs: signed.pairs.map { pair in .init(name: pair.name, value: pair.value ?? "") })
        #expect(try image(bare) == expected)
    }

    @Test func `The ID of a key has one spelling`() throws {
        let key = try key("K1")
        // The Kelvin sign, which is equal to a K in Unicode.
        let signed = try signed(source, by: key)
        let other = QueryString(
            pairs: signed.pairs.map { .init(name: $0.name, value: $0.value?.replacing("K1.", with: "\u{212A}1.")) })
        #expect(throws: AuthorizationError.signatureWrong) {
            try authorizer(key).authorize(other, path: "/image", presets: .accepted, isAdmin: false)
        }
    }

    @Test func `A signed URL expires at the second that it names`() throws {
        let key = try key()
        let authorizer = try authorizer(key)
        let good = try signed(source + "&exp=1800000001", by: key)
        let authorization = try authorizer.authorize(good, path: "/image", presets: .accepted, isAdmin: false)
        #expect(authorization.remaining(at: Self.now) == .seconds(1))
        #expect(!authorization.query.contains("exp"))
        try authorization.requireCurrent(at: Self.now)
        #expect(throws: AuthorizationError.signatureExpired) {
            try authorization.requireCurrent(at: Self.now.addingTimeInterval(1))
        }
    }

    @Test(arguments: [
        ("&preset=avatar", nil), ("&preset=avatar&filename=a.jpg", nil),
        ("", AuthorizationError.presetsOnly(parameter: nil)), ("&w=96", .presetsOnly(parameter: "w")),
        ("&preset=avatar&w=96", .presetsOnly(parameter: "w")),
    ])
    func `Where images are made with presets only, other parameters are refused`(
        query: String, error: AuthorizationError?
    ) throws {
        let authorizer = try authorizer(presetsOnly: true)
        let query = try QueryString(parsing: source + query)
        let authorize = { () throws(AuthorizationError) in
            try authorizer.authorize(query, path: "/image", presets: .accepted, isAdmin: false)
        }
        if let error {
            #expect(throws: error) { try authorize() }
        } else {
            #expect(try authorize().query.contains("fit"))
        }
        #expect(throws: AuthorizationError.self) {
            try authorizer.authorize(query, path: "/srcset", presets: .unsupported, isAdmin: false)
        }
    }

    @Test func `A key allows its own presets and hosts`() throws {
        let key = try key(hosts: ["example.com"], presets: ["hero"])
        let authorizer = try authorizer(key)
        #expect(throws: AuthorizationError.presetNotAllowed) {
            try authorizer.authorize(
                signed(source + "&preset=avatar", by: key), path: "/image", presets: .accepted, isAdmin: false)
        }
        let authorization = Authorization(key: key)
        try authorization.requireSources(of: ImageRequest(url: "https://example.com/a.jpg"))
        let request = try ImageRequest(url: "https://example.org/a.jpg")
        #expect(throws: AuthorizationError.sourceNotAllowed(parameter: "url")) {
            try authorization.requireSources(of: request)
        }
        var marked = try ImageRequest(url: "https://example.com/a.jpg")
        marked.mark = try SourceURL(parsing: "https://example.org/logo.png")
        #expect(throws: AuthorizationError.sourceNotAllowed(parameter: "mark")) {
            try authorization.requireSources(of: marked)
        }
    }

    @Test(arguments: [
        ("s3://media", true), ("s3://*", true), ("*", true), ("s3://me*", true), ("media", false), ("*.com", false),
        ("s3://other", false), ("https://*", false), ("*media", false),
    ])
    func `Objects are allowed by patterns for objects only`(pattern: String, isAllowed: Bool) throws {
        let authorization = Authorization(key: try key(hosts: [pattern]))
        let object = try ImageRequest(url: "s3://media/a.jpg")
        let host = try ImageRequest(url: "https://media/a.jpg")
        #expect(((try? authorization.requireSources(of: object)) != nil) == isAllowed)
        #expect(((try? authorization.requireSources(of: host)) != nil) == ["*", "media", "*media"].contains(pattern))
    }

    @Test func `A repeated parameter is refused before the signature is checked`() throws {
        let error = #expect(throws: AuthorizationError.self) {
            try authorizer(key()).authorize(
                QueryString(parsing: "url=x&s=a&s=b"), path: "/image", presets: .accepted, isAdmin: false)
        }
        #expect(error?.parameter == "s")
        #expect(error?.detail == "Parameter 's' must be given only once.")
    }

    @Test(arguments: [
        AuthorizationError.signatureRequired, .signatureWrong, .signatureExpired, .presetsOnly(parameter: nil),
        .presetsOnly(parameter: "w"), .presetNotAllowed, .sourceNotAllowed(parameter: "url"),
    ])
    func `Every refusal is a sentence`(error: AuthorizationError) {
        #expect(error.detail.hasSuffix("."))
    }

    @Test func `What only the admin may have where presets are required is for the admin alone`() throws {
        let authorizer = try authorizer(presetsOnly: true)
        let free = try QueryString(parsing: "url=http://a.org/")
        #expect(try authorizer.authorize(free, path: "/image", presets: .accepted, isAdmin: true).isPersonal)
        let preset = try QueryString(parsing: "url=http://a.org/&preset=avatar")
        #expect(try !authorizer.authorize(preset, path: "/image", presets: .accepted, isAdmin: false).isPersonal)
        let path = PathTranslation(of: .unsigned(""), query: free)
        #expect(try authorizer.authorize(path, isAdmin: true).isPersonal)
    }
}
