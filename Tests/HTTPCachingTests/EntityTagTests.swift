import DarkroomHTTPCaching
import Testing

struct EntityTagTests {
    private let current = EntityTag("abc")

    @Test(arguments: [
        ("*", true), (" * ", true), (#""abc""#, true), (#"W/"abc""#, true), (#""x", "abc""#, true),
        (#""x",W/"abc" , "y""#, true), (#", ,"abc",,"#, true), ("\t\"abc\"", true),
        (#""x""#, false), (#""ABC""#, false), (#""abc,""#, false), (#""""#, false), (#""*""#, false),
    ])
    func `A list matches if it names the current tag, weak or not`(text: String, matches: Bool) {
        #expect(EntityTagCondition(parsing: text)?.matches(current) == matches)
    }

    @Test(arguments: [
        "", " ", ",", "abc", #""abc"#, #"abc""#, #"w/"abc""#, #"W/abc"#, #"*, "abc""#, #""abc" "x""#, #""a b""#,
        #"W/ "abc""#,
    ])
    func `What is no list of tags is no condition`(text: String) {
        #expect(EntityTagCondition(parsing: text) == nil)
    }

    @Test func `Tags are written with quotes, and W in front where they are weak`() {
        #expect(EntityTag("abc").description == #""abc""#)
        #expect(EntityTag("abc", isWeak: true).description == #"W/"abc""#)
    }
}
