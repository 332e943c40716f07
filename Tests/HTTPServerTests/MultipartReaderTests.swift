import NIOCore
import Testing

@testable import DarkroomHTTPServer

/// Forms with one file, and what is not one.
struct MultipartReaderTests {
    private static let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\n\r\n"

    private static func form(
        _ file: String, head: String = head, preamble: String = "", end: String = "\r\n--b--\r\n"
    ) -> String { "\(preamble)--b\r\n\(head)\(file)\(end)" }

    /// The file of a form that arrives in pieces of this size.
    private func file(_ form: String, boundary: String = "b", pieces size: Int = .max) throws -> String {
        var reader = try #require(MultipartReader(boundary: boundary))
        var body = ByteBuffer(string: form)
        var file = ByteBuffer()
        while body.readableBytes > 0, let piece = body.readSlice(length: min(size, body.readableBytes)) {
            for part in try reader.read(piece) { file.writeImmutableBuffer(part) }
        }
        try reader.finish()
        return String(buffer: file)
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, Int.max])
    func `The file is the same however the form is cut`(size: Int) throws {
        let files = [
            "", "x", "\r", "\r\n", "\r\n--", "\r\n--\r\n--a\r\r\n--", "\r\r\n-", "two\r\nlines\n", "--b", "a--b--\r\n",
        ]
        for text in files {
            #expect(try file(Self.form(text), pieces: size) == text)
            #expect(try file(Self.form(text, preamble: "\r\n", end: "\r\n--b--"), pieces: size) == text)
            #expect(try file(Self.form(text, end: "\r\n--b-- \t\r\nepilogue"), pieces: size) == text)
        }
    }

    @Test func `A part is a file if it has a file name, in either spelling`() throws {
        let fields = [
            "content-disposition:form-data;name=file;filename=a.jpg",
            "Content-Disposition: form-data; name=\"\"; filename=\"\"",
            "Content-Disposition: form-data; name=\"a;b\"; filename=\"C:\\\\a\\\".jpg\"",
            "Content-Disposition: form-data; name=f; filename*=UTF-8''%e2%82%ac.jpg",
            "X-Other: 1\r\nContent-Disposition: form-data; name=f; filename=\"é.jpg\"\r\nContent-Type: text/plain",
            "Content-Disposition: form-data; name=f; filename=a\r\nContent-Transfer-Encoding: Binary",
        ]
        for field in fields { #expect(try file(Self.form("bytes", head: "\(field)\r\n\r\n")) == "bytes", "\(field)") }
    }

    @Test(
        arguments: [
            (form("x", head: "\r\n"), .malformedHeader),
            (form("x", head: "Content-Type: image/png\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition: form-data; filename=a\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition: attachment; name=a; filename=a\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition: form-data; name=a; name=b; filename=a\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition: form-data; name=a; filename=\"a\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition : form-data; name=a; filename=a\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition: form-data;\r\n name=a; filename=a\r\n\r\n"), .malformedHeader),
            (form("x", head: "Content-Disposition: form-data; name=a; filename=a\n\n"), .malformedHeader),
            (form("x", head: head.dropLast() + head), .malformedHeader),
            (form("x", head: head.dropLast() + "Content-Transfer-Encoding: base64\r\n\r\n"), .encodedPart),
            (form("x", head: "Content-Disposition: form-data; name=w\r\n\r\n"), .fieldWithoutFile("w")),
            (form("x", end: "\r\n--b\r\n\(head)y\r\n--b--\r\n"), .severalParts), ("--b--\r\n", .noFile),
            ("", .incomplete),
            (form("x", end: ""), .incomplete), (form("x", end: "\r\n--b"), .incomplete),
            (form("x", end: "\r\n--b-"), .incomplete),
            (form("x", end: "\r\n--c--\r\n"), .incomplete), (form("x", end: "\r\n--b!--\r\n"), .malformedDelimiter),
            (form("x", end: "\r\n--b--\n"), .malformedDelimiter), ("other", .incomplete),
        ] as [(String, MultipartFlaw)])
    func `What is not one file is refused, with its reason`(form: String, flaw: MultipartFlaw) {
        for size in [1, 3, Int.max] {
            #expect(throws: flaw, "\(form)") { try file(form, pieces: size) }
        }
        #expect(flaw.description.hasSuffix("."))
    }

    @Test func `Everything but the file is bounded`() {
        let long = String(repeating: "x", count: MultipartReader.maxHeaderBytes)
        for size in [1, 1000, Int.max] {
            #expect(throws: MultipartFlaw.preamble) { try file(long + "\r\n" + Self.form("x"), pieces: size) }
            #expect(throws: MultipartFlaw.epilogue) { try file(Self.form("x") + long, pieces: size) }
            #expect(throws: MultipartFlaw.headerTooLarge) { try file(Self.form("x", head: "A: \(long)"), pieces: size) }
            #expect(throws: MultipartFlaw.headerTooLarge) {
                try file(Self.form("x", head: String(repeating: "A: b\r\n", count: 2_000)), pieces: size)
            }
            #expect(throws: MultipartFlaw.malformedDelimiter) { try file("--b" + long, pieces: size) }
        }
    }

    @Test func `A boundary has 1 to 70 characters of its own alphabet`() {
        for good in [
            "b", "----WebKitFormBoundary7MA4YWxkTrZu0gW", "a b'()+_,-./:=?", String(repeating: "x", count: 70),
        ] {
            #expect(MultipartReader(boundary: good) != nil)
        }
        for bad in ["", " ", "a ", "a\r\n", "a\"", "é", "a;b", String(repeating: "x", count: 71)] {
            #expect(MultipartReader(boundary: bad) == nil)
        }
    }

    @Test func `A media type is read with its parameters, and a malformed one is none`() {
        #expect(MediaType("Image/PNG")?.name == "image/png")
        #expect(MediaType("image/*")?.isImage == true)
        #expect(MediaType("multipart/form-data; Boundary=\"a b\\\"\" ;")?.parameters == ["boundary": "a b\""])
        for bad in ["", "/", "a/", "a/b/c", "a b", "a/b;c", "a/b;c=\"d", "a/b;c=d;C=e", "image/png, text/html"] {
            #expect(MediaType(bad) == nil, "\(bad)")
        }
    }
}
