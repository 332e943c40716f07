import Testing

@testable import DarkroomQuery

/// The sentence with which a parameter is refused.
struct InvalidParameterTests {
    private let grammar = ImageQueryGrammar()

    @Test(arguments: [
        ("w=0", "w", "Parameter 'w' must be an integer from 1 to 8192, or a percentage from 1p to 800p, got '0'."),
        ("w", "w", "Parameter 'w' must be an integer from 1 to 8192, or a percentage from 1p to 800p, got no value."),
        (
            "blur=0", "blur",
            "Parameter 'blur' must be a number from 0.3 to 1000 or have no value, got '0'."
        ),
        (
            "sharp=x", "sharp",
            "Parameter 'sharp' must be a number from 0.000001 to 10 or have no value, got 'x'."
        ),
        (
            "dpr=9", "dpr",
            "Parameter 'dpr' must be a number from 1 to 8 with at most 2 decimals, got '9'."
        ),
        ("dpr=2&w=5000", "dpr", "Parameter 'w' times 'dpr' must be at most 8192 pixels, got 10000."),
        ("dpr=2&h=500p", "dpr", "Parameter 'h' times 'dpr' must be at most 800p, got 1000p."),
        ("dpr=2&min-w=5000", "dpr", "Parameter 'min-w' times 'dpr' must be at most 8192 pixels, got 10000."),
        (
            "ar=1:1&w=5&h=50p", "ar",
            "Parameter 'ar' cannot be combined with both a width and a height; leave one of the three out."
        ),
        (
            "ar=1:1&w=5&fit=fill", "ar",
            "Parameter 'ar' requires fit=cover, which it implies, or fit=contain; got fit=fill."
        ),
        ("ar=1:2&w=5000", "ar", "Parameter 'ar' makes the height 10000 pixels; at most 8192 are allowed."),
        ("ar=2:1&h=5000", "ar", "Parameter 'ar' makes the width 10000 pixels; at most 8192 are allowed."),
        ("min-w=6&w=5", "min-w", "Parameter 'min-w' must not exceed the width of 5 pixels, got 6."),
        ("min-h=6&w=10&ar=2:1", "min-h", "Parameter 'min-h' must not exceed the height of 5 pixels, got 6."),
        ("fpx=0.25", "fpx", "Parameters 'fpx' and 'fpy' require a=focal."),
        ("fpx=0.5&fpy=0.75&a=top", "fpy", "Parameters 'fpx' and 'fpy' require a=focal."),
        ("fields=color", "fields", "Parameter 'fields' requires output=json."),
        ("fields=color&output=lqip", "fields", "Parameter 'fields' requires output=json."),
        (
            "placeholder=color&output=json", "placeholder",
            "Parameter 'placeholder' requires an image, and output=json is not one."
        ),
        ("we&enlarge", "we", "Parameter 'we' means enlarge=false and cannot be combined with enlarge=true."),
        ("radius=5&mask=star", "radius", "Parameter 'radius' cannot be combined with 'mask'."),
        ("mbg=red", "mbg", "Parameters 'mbg' and 'mtrim' require 'mask'."),
        ("textsize=9", "textsize", "Parameters 'textsize', 'textcolor' and 'texta' require 'text'."),
        ("texta=top&textcolor=fff", "texta", "Parameters 'textsize', 'textcolor' and 'texta' require 'text'."),
        ("mtrim&radius=5", "mtrim", "Parameters 'mbg' and 'mtrim' require 'mask'."),
        (
            "pad=1,x", "pad",
            "Parameter 'pad' must be one to four widths from 0 to 9999 in pixels, separated by commas, got '1,x'."
        ),
        ("w=1&w=1", "w", "Parameter 'w' must be given only once."),
        ("width=1", "width", "There is no parameter 'width'. Did you mean 'w'?"),
        ("format=webp", "format", "There is no parameter 'format'. Did you mean 'output'?"),
        ("Quality=75", "Quality", "There is no parameter 'Quality'. Did you mean 'q'?"),
        (
            "w=1&amp;h=1", "amp;h",
            "There is no parameter 'amp;h'. Separate parameters by '&': its escape '&amp;' is for HTML."
        ),
        ("tbg=red", "tbg", "Parameter 'tbg' requires 'trim'."),
        ("sharpj=2&sharp", "sharpj", "Parameters 'sharpf' and 'sharpj' require 'sharp' with a value."),
        ("W=1", "W", "There is no parameter 'W'. Did you mean 'w'?"),
        ("fti=cover", "fti", "There is no parameter 'fti'. Did you mean 'fit'?"),
        (
            "cache=always", "cache",
            "Parameter 'cache' must be one of default, no-store, reload, no-cache, force-cache, only-if-cached, "
                + "refresh, got 'always'."
        ),
        (
            "fit=crop", "fit",
            "Parameter 'fit' must be one of inside, outside, cover, contain, fill, got 'crop'. Did you mean "
                + "'fit=cover'?"
        ),
        (
            "blur=true", "blur",
            "Parameter 'blur' must be a number from 0.3 to 1000 or have no value, got 'true'. Did you mean "
                + "'blur' without a value?"
        ),
        (
            "steps=flip,rotate:90", "steps",
            "Parameter 'steps' must be up to 64 steps separated by commas, each name at most 8 times (mark and text "
                + "16), such as blur:5,ro:90,mark, got 'flip,rotate:90'. There is no step 'rotate'. Did you mean 'ro'?"
        ),
        (
            "ro=-90", "ro",
            "Parameter 'ro' must be an integer from 0 to 359, got '-90'. Did you mean 'ro=270'?"
        ),
        ("n=-1", "n", "Parameter 'n' must be an integer from 1 to 100000, got '-1'. Leave 'n' out for all frames."),
        (
            "q=none", "q",
            "Parameter 'q' must be an integer from 1 to 100, or auto, got 'none'. Leave 'q' out instead."
        ),
        (
            "zzzzzz", "zzzzzz",
            "There is no parameter 'zzzzzz'. If it belongs to the source's URL, percent-encode the value of 'url', "
                + "with %26 for each & in it."
        ),
    ])
    func `A refusal names the parameter, the allowed values and the value received`(
        query: String, parameter: String, detail: String
    ) {
        let error = #expect(throws: InvalidParameter.self) {
            try grammar.parse("url=https://example.com/a.jpg&" + query)
        }
        #expect(error?.parameter == parameter)
        #expect(error?.detail == detail)
    }

    @Test(arguments: [
        ("url=https://a.org/b.jpg&x=1", "x", true), ("url=https://a.org/b.jpg?v=1&x=1", "x", true),
        ("url=https://a.org/b.jpg?v=1&width=1", "width", true), ("url=https://a.org/b.jpg&width=1", "width", false),
        ("x=1&url=https://a.org/b.jpg", "x", false),
    ])
    func `A parameter that may be the rest of an unencoded source is refused with how to encode it`(
        query: String, parameter: String, isEncodingNamed: Bool
    ) throws {
        let error = try #require(throws: InvalidParameter.self) { try grammar.parse(query) }
        #expect(error.parameter == parameter)
        #expect(error.detail.contains("percent-encode the value of 'url'") == isEncodingNamed)
        #expect(error.detail.contains("'w'") == (parameter == "width"))
    }

    @Test(arguments: ValueSuggestions.otherValues.keys.sorted())
    func `A value of another service is refused, and the value to write instead is accepted`(parameter: String) throws {
        for (other, value) in try #require(ValueSuggestions.otherValues[parameter]) {
            let error = #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&\(parameter)=\(other)") }
            #expect(error?.detail.hasSuffix("Did you mean '\(parameter)=\(value)'?") == true, "\(other)")
            _ = try grammar.parse("url=x&\(parameter)=\(value)")
        }
    }

    @Test func `A source is required`() {
        for query in ["", "w=1", "url", "url="] {
            let error = #expect(throws: InvalidParameter.self) { try grammar.parse(query) }
            #expect(error?.parameter == "url")
        }
    }

    @Test(arguments: ["y", "%CC%81"]) func `Text of the client is echoed up to 100 characters`(repeated: String) {
        let long = "y" + String(repeating: repeated, count: 5_000)
        for query in ["w=\(long)", "\(long)=1", "w=1&w=\(long)", "fit=\(long)", "filename=\(long)"] {
            let error = #expect(throws: InvalidParameter.self) { try grammar.parse("url=x&" + query) }
            #expect((error?.detail.unicodeScalars.count ?? .max) < 400)
            #expect((error?.parameter?.unicodeScalars.count ?? .max) <= 101)
        }
    }
}
