import DarkroomNetwork
import Testing

@Suite("Lists and quoted strings in HTTP fields")
struct FieldListTests {
    @Test(
        "A list is split at separators outside quoted strings",
        arguments: [
            ("a, b ,\tc", ["a", "b", "c"]),
            (#"a="1,2", b"#, [#"a="1,2""#, "b"]),
            (#"a="1\",2", b"#, [#"a="1\",2""#, "b"]),
            (#"a\",b"#, [#"a\",b"#]),
            ("", [""]),
            (",a,,", ["", "a", "", ""]),
            ("é, ü", ["é", "ü"]),
        ])
    func splitting(text: String, members: [Substring]) {
        #expect(FieldList(text).members == members)
    }

    @Test("A quoted string without an end is reported", arguments: [#"a, "b"#, #"a, "b\""#, #"""#])
    func unclosedQuotes(text: String) {
        #expect(FieldList(text).hasUnclosedQuote)
    }

    @Test("A closed quoted string is not reported as unclosed", arguments: [#"a, "b""#, #""a\\""#, "a", ""])
    func closedQuotes(text: String) {
        #expect(!FieldList(text).hasUnclosedQuote)
    }

    @Test("The parameters of a member are split at semicolons")
    func parameters() {
        let list = FieldList(#"image/webp ; q=0.5;x="a;b""#, separator: UInt8(ascii: ";"))
        #expect(list.members == ["image/webp", "q=0.5", #"x="a;b""#])
    }

    @Test("A plain list has neither empty members nor quoted strings")
    func plainLists() {
        let text: Substring = #" a,, "b , c" ,"#
        #expect(text.plainListMembers == ["a", "\"b", "c\""])
        #expect((" \t " as Substring).trimmingBlanks.isEmpty)
    }

    @Test(
        "A quoted string is read without quotes and escapes",
        arguments: [(#""a, \"b\" \\""#, #"a, "b" \"#), (#""""#, ""), (#""é""#, "é")])
    func quotedStrings(text: String, value: String) {
        var reader = FieldReader(text + "rest")
        let string = reader.quotedString()
        #expect(string == value)
        #expect(Substring(reader.rest) == "rest")
    }

    @Test("A quoted string without an end is not taken", arguments: [#""a"#, #""a\"#, #""a\""#, "a", ""])
    func malformedQuotedStrings(text: String) {
        var reader = FieldReader(text)
        let string = reader.quotedString()
        #expect(string == nil)
        #expect(Substring(reader.rest) == text)
    }

    @Test("A token ends before the first byte that no token has")
    func tokens() {
        var reader = FieldReader("max-age=1")
        let (name, skippedComma, skippedEquals) = (reader.token(), reader.skip(","), reader.skip("="))
        #expect(name == "max-age" && !skippedComma && skippedEquals)
        let (value, missing) = (reader.token(), reader.token())
        #expect(value == "1" && missing == nil)
        #expect(reader.isAtEnd)
    }
}

@Suite("Character classes of ASCII")
struct ASCIITests {
    @Test("Each class holds exactly its characters")
    func classes() {
        let lowercase = "abcdefghijklmnopqrstuvwxyz"
        let letters = lowercase + lowercase.uppercased()
        let digits = "0123456789"
        let tokens = letters + digits + "!#$%&'*+-.^_`|~"
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isASCIILowercase == lowercase.utf8.contains(byte))
            #expect(byte.isASCIILetter == letters.utf8.contains(byte))
            #expect(byte.isASCIIDigit == digits.utf8.contains(byte))
            #expect(byte.isASCIIAlphanumeric == (letters + digits).utf8.contains(byte))
            #expect(byte.isLowercaseHexDigit == (digits + "abcdef").utf8.contains(byte))
            #expect(byte.isPlainNameCharacter == (letters + digits + "-._").utf8.contains(byte))
            #expect(byte.isURLUnreserved == (letters + digits + "-._~").utf8.contains(byte))
            #expect(byte.isTokenCharacter == tokens.utf8.contains(byte))
            #expect(byte.isBlank == " \t".utf8.contains(byte))
            let text = String(decoding: [byte], as: UTF8.self)
            #expect(byte.hexDigitValue == (byte < 128 && byte != UInt8(ascii: "+") ? UInt8(text, radix: 16) : nil))
        }
    }
}
