import DarkroomNetwork
import Testing

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test("Everything but unreserved characters is encoded, in capitals")
    func encoding() {
        #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encode("a b%2F/é?") == "a%20b%252F%2F%C3%A9%3F")
    }

    @Test(
        "Completing an encoding keeps well-formed escapes and encodes stray percent signs",
        arguments: [("%2f", "%2f"), ("%", "%25"), ("%4", "%254"), ("%zz", "%25zz"), ("a b", "a%20b"), ("é", "%C3%A9")])
    func completing(text: String, encoded: String) {
        #expect(PercentEncoding.complete(Array(text.utf8)[...], allowing: .pathSegment) == encoded)
    }

    @Test("A path keeps its slashes, a segment does not, and a query keeps slashes and question marks")
    func allowedBytes() {
        let text = Array("/?'#".utf8)[...]
        #expect(PercentEncoding.complete(text, allowing: .pathSegment) == "%2F%3F'%23")
        #expect(PercentEncoding.complete(text, allowing: .path) == "/%3F'%23")
        #expect(PercentEncoding.complete(text, allowing: .query) == "/?%27%23")
    }

    @Test("Decoding reads either case and leaves a plus sign alone")
    func decoding() {
        #expect(PercentEncoding.decode("a%2fb%2F+"[...].utf8) == "a/b/+")
        #expect(PercentEncoding.decode("%25%32%35"[...].utf8) == "%25")
        #expect(PercentEncoding.decode("plain"[...].utf8) == "plain")
    }

    @Test(
        "Strict decoding refuses stray percent signs and bytes that are not UTF-8",
        arguments: ["%", "%4", "%zz", "%ff"])
    func malformed(text: String) {
        #expect(PercentEncoding.decode(text[...].utf8) == nil)
    }

    @Test("Lenient decoding leaves stray percent signs alone")
    func lenientDecoding() {
        #expect(PercentEncoding.decodeLeniently(Array("%41%4%zz%ff".utf8)[...]) == Array("A%4%zz".utf8) + [0xff])
    }

    @Test("Decoding reverses encoding for any text", arguments: ["", "100 %", "日本語/?&=", "\u{0}\u{7f}"])
    func roundTrip(text: String) {
        #expect(PercentEncoding.decode(PercentEncoding.encode(text)[...].utf8) == text)
    }
}
