import DarkroomDialects
import DarkroomNetwork
import DarkroomQuery
import Foundation
import Testing

struct ThumborTranslationTests {
    private let dialect = Thumbor()

    private static let rows: [(path: String, query: String)] = [
        ("", "formats=none"),
        ("300x200/", "w=300&h=200&fit=cover&enlarge=true&formats=none"),
        ("300x0/", "w=300&fit=cover&enlarge=true&formats=none&rules=thumbor"),
        ("x200/", "h=200&fit=cover&enlarge=true&formats=none&rules=thumbor"),
        ("0x0/", "formats=none"),
        ("origxorig/", "formats=none"), ("origx/", "formats=none"), ("fit-in/0xorig/", "formats=none"),
        ("origx200/", "w=100p&h=200&fit=cover&enlarge=true&formats=none"),
        ("fit-in/300xorig/", "w=300&h=100p&formats=none&rules=thumbor"),
        ("-300x-orig/left/", "w=300&h=100p&fit=cover&enlarge=true&a=left&flop=true&flip=true&formats=none"),
        ("/300x200/", "w=300&h=200&fit=cover&enlarge=true&formats=none"),
        ("-300x-200/", "w=300&h=200&fit=cover&enlarge=true&flop=true&flip=true&formats=none"),
        ("-x/", "flop=true&formats=none"),
        ("fit-in/300x200/", "w=300&h=200&formats=none&rules=thumbor"),
        ("fit-in/300x200/filters:upscale()/", "w=300&h=200&enlarge=true&formats=none&rules=thumbor"),
        ("full-fit-in/300x200/", "w=300&h=200&fit=outside&enlarge=true&formats=none&rules=thumbor"),
        ("adaptive-fit-in/300x200/", "w=300&h=200&swap=true&formats=none&rules=thumbor"),
        (
            "adaptive-full-fit-in/300x200/",
            "w=300&h=200&fit=outside&enlarge=true&swap=true&formats=none&rules=thumbor"
        ),
        ("stretch/300x200/", "w=300&h=200&fit=fill&enlarge=true&formats=none"),
        ("300x200/filters:stretch()/", "w=300&h=200&fit=fill&enlarge=true&formats=none"),
        ("300x200/left/top/", "w=300&h=200&fit=cover&enlarge=true&a=top-left&formats=none"),
        ("300x200/center/middle/", "w=300&h=200&fit=cover&enlarge=true&formats=none"),
        ("300x200/right/", "w=300&h=200&fit=cover&enlarge=true&a=right&formats=none"),
        ("300x200/bottom/", "w=300&h=200&fit=cover&enlarge=true&a=bottom&formats=none"),
        ("300x200/smart/", "w=300&h=200&fit=cover&enlarge=true&a=faces&formats=none&rules=thumbor"),
        (".1x00.2:0.60x01/", "crop=10p,20p,50p,80p&formats=none&rules=thumbor"),
        // The area rounds to 0.
        ("30x20/filters:focal(0x0:1e-300x1e-300)/", "w=30&h=20&fit=cover&enlarge=true&formats=none"),
        ("30x20/filters:focal(0x2:1e-320x2.0000000001)/", "w=30&h=20&fit=cover&enlarge=true&formats=none"),
        ("trim/", "trim=1&formats=none&rules=thumbor"),
        ("trim:50/", "trim=50&formats=none&rules=thumbor"),
        ("trim:bottom-right:20/", "trim=20&tcorner=bottom-right&formats=none&rules=thumbor"),
        ("10x20:110x220/", "crop=10,20,100,200&formats=none&rules=thumbor"),
        ("0.1x0.2:0.6x1.0/", "crop=10p,20p,50p,80p&formats=none&rules=thumbor"),
        ("50x50:0x0/", "crop=50,50,100p,100p&formats=none&rules=thumbor"),
        ("30x30:20x20/", "formats=none&rules=thumbor"),
        ("meta/", "output=json"),
        ("meta/filters:blurhash(4,3):avgcolor()/", "output=json&fields=blurhash,color"),
        ("filters:quality(70):format(webp)/", "q=70&output=webp"),
        ("filters:quality(0):quality(200)/", "q=100&formats=none"),
        ("filters:format(bmp)/", "bg=000000ff&output=jpg"),
        ("filters:format(heif)/", "output=avif"), ("filters:format(asdf)/", "formats=none"),
        ("filters:autojpg()/", "bg=000000ff&output=jpg"),
        ("filters:max_bytes(5000):max_frames(3):page(2)/", "max_bytes=5000&page=upto:2&n=1&formats=none"),
        ("filters:lossless():palette():compression(8)/", "ll=true&palette=true&l=8&formats=none"),
        ("filters:strip_exif():strip_icc():to_colorspace(srgb):dpi(72):preview()/", "formats=none"),
        ("filters:strip_metadata()/", "metadata=none&formats=none"),
        ("filters:max_age(60)/", "maxage=60s&formats=none"),
        ("filters:orient(90)/", "orient=8&formats=none"),
        ("filters:rotate(90):rotate(45):rotate(270)/", "steps=ro:270,ro:90&formats=none"),
        ("filters:redact()/", "redact=face&formats=none"),
        ("filters:redact_oval(red)/", "redact=face:ff0000ff&formats=none"),
        ("filters:redact(pixelate,20)/", "redact=face:pixelate&formats=none"),
        ("filters:blur(5):blur(1,2):blur(0)/", "steps=blur:2.5,blur:2&formats=none&rules=thumbor"),
        ("filters:sharpen(1):sharpen(1,0.5,true)/", "steps=sharp:3:0:2,sharp:2:0:2&formats=none&rules=thumbor"),
        ("filters:sharpen(4.5):sharpen(5)/", "steps=sharp:10:0:2,sharp:0.5:0:2&formats=none&rules=thumbor"),
        ("filters:brightness(-20):brightness()/", "steps=linear:1:-20:-20:-20&formats=none"),
        ("filters:contrast(0):rgb(10,-50,30.5)/", "steps=linear:1:10:-50:30.5&formats=none"),
        ("filters:brightness(-20):contrast(0):rgb(10,-50,30)/", "steps=linear:1:-10:-70:10&formats=none"),
        ("filters:hue(-70):hue(360):saturation(50)/", "steps=hue:290,sat:1.5&formats=none"),
        ("filters:modulate(-10,30,20)/", "steps=mod:0.9:1.3:20&formats=none"),
        ("filters:modulate(0,0,0):modulate(0,-200,-10)/", "steps=mod:1:0:350&formats=none"),
        (
            "filters:grayscale():invert():pixelate()/",
            "steps=filt:greyscale,filt:negate,pixelate:10&formats=none&rules=thumbor"
        ),
        ("filters:max_frames(3):max_frames(9):page(1)/", "n=3&pick=even&formats=none"),
        ("filters:to_colorspace(cmyk)/", "formats=none"), ("filters:to_colorspace(p3)/", "gamut=p3&formats=none"),
        ("filters:round_corner(20)/", "steps=round:20:20&formats=none"),
        ("filters:round_corner(20,10,red)/", "steps=round:20:10:ff0000ff&formats=none"),
        ("filters:round_corner(20|10,0,255,0)/", "steps=round:20:10:00ff00ff&formats=none"),
        ("filters:round_corner(20,0,255,0,1)/", "steps=round:20:20&formats=none"),
        ("filters:padding(white,1,2,3,4)/", "steps=pad:ffffffff:2:3:4:1&formats=none"),
        ("filters:padding(f00,5):padding(red)/", "steps=pad:ff0000ff:5:5:5:5&formats=none"),
        ("filters:proportion(50):proportion(0.25):proportion(9999)/", "steps=scale:50p,scale:25p&formats=none"),
        ("filters:crop(10,0.2,100,50.7)/", "steps=cut:10:20p:100:50&formats=none"),
        ("filters:trim(50,bottom-right)/", "steps=trim:50:bottom-right&formats=none&rules=thumbor"),
        ("filters:background_color(FFO)/", "steps=bg:ffff00ff&formats=none"),
        ("filters:fill(none)/", "steps=fill:00000000:0:0:0:0&formats=none"),
        ("filters:fill(auto):fill(blur)/", "steps=fill:auto:0:0:0:0,fill:blur:0:0:0:0&formats=none&rules=thumbor"),
        (
            "fit-in/300x200/10x5:20x30/filters:fill(white)/",
            "w=300&h=200&steps=fill:ffffffff:5:20:30:10&formats=none&rules=thumbor"
        ),
        (
            "300x200/filters:focal(589x401:1000x814)/",
            "w=300&h=200&fit=cover&enlarge=true&a=focal&focus=794.5,607.5&formats=none&rules=thumbor"
        ),
        (
            "300x200/filters:focal(0.1x0:0.9x0.5)/",
            "w=300&h=200&fit=cover&enlarge=true&a=focal&fpx=0.5&fpy=0.25&formats=none&rules=thumbor"
        ),
        (
            "300x200/filters:focal(100x50):focal(0x0:99x99)/",
            "w=300&h=200&fit=cover&enlarge=true&a=focal&focus=49.51,49.5&formats=none&rules=thumbor"
        ),
        (
            "filters:watermark(example.com/w.png,-10,20p,30,50,none)/",
            "mark=https://example.com/w.png&steps=mark:r10:t20p:50p:100p:70&formats=none"
        ),
        (
            "filters:watermark(example.com/w.png,0,0,30,50):watermark(example.com/w.png,0,0,30,none)/",
            "mark=https://example.com/w.png&steps=mark:l:t:50p:-:70,mark:l:t:-:-:70&formats=none"
        ),
        (
            "filters:watermark(example.com/w.png,0,0,30):image(/9x9/example.com/v.png,c,0):"
                + "watermark(example.com/w.png,center,bottom,0)/",
            "mark=https://example.com/w.png&mark.2=https://example.com/v.png"
                + "&steps=mark:l:t:-:-:70,mark:l:t:9:9:100:over:cover:2,mark:c:b:-:-:100&formats=none"
        ),
        (
            "filters:watermark(https://example.com/w.png,center,bottom,0)/",
            "mark=https://example.com/w.png&steps=mark:c:b:-:-:100&formats=none"
        ),
        (
            "filters:watermark(b64:ZXhhbXBsZS5jb20vdy5wbmc,repeat,b-20,0):watermark(example.com/w.png,0.1,repeat,9)/",
            "mark=https://example.com/w.png&steps=mark:tile:b-20:-:-:100,mark:l10p:tile:-:-:91&formats=none"
        ),
        (
            "filters:label(IMA GOR,right,top,30,red,50,monospace)/",
            "steps=text:IMA%20GOR:r:t:h30:ff000080:monospace&formats=none"
        ),
        (
            "filters:image(/100x50/example.com/a%2520b.png,-10,r-5,30,multiply):image(example.com/a%2520b.png,c,0,0,x)/",
            "mark=https://example.com/a%20b.png&steps=mark:r10:b-5:100:50:70:multiply:cover,mark:l:t:-:-:100"
                + "&formats=none"
        ),
        (
            "filters:image(fit-in/fx0/example.com/a.png):image(stretch/fullx9/example.com/a.png,center,center)/",
            "mark=https://example.com/a.png&steps=mark:l:t:100p:-:100:over:shrink,mark:c:c:100p:9:100:over:fill"
                + "&formats=none"
        ),
        (
            "filters:image(/30x20/color:red,repeat,center)/",
            "mark=color:///ff0000ff&steps=mark:tile:c:30:20:100:over:fill&formats=none"
        ),
        (
            "filters:text(a,0,0,sans-20,red,0,Soft-Light):text(b,0,0,sans-20,red,0,add)/",
            "steps=text:a:l:t:20:ff0000ff:sans:-:soft-light,text:b:l:t:20:ff0000ff&formats=none"
        ),
        ("filters:max_frames(3):cover()/", "n=1&formats=none"),
        ("filters:label(x,-0.15,t-5)/", "steps=text:x:r15p:t-5:h20:000000ff&formats=none"),
        (
            "filters:text(b64:SGVsbG8,center,-20,sans-bold-18):text(a,0,0,,,,,60p)/",
            "steps=text:Hello:c:b20:18:000000ff:sans-bold,text:a:l:t:20:000000ff:sans:60p&formats=none"
        ),
        ("filters:attachment(photo.jpg)/", "filename=photo.jpg&attachment=true&formats=none"),
    ]

    @Test(arguments: rows)
    func `Each option means these parameters, which the server reads`(path: String, query: String) throws {
        #expect(try dialect.text("/unsafe/\(path)example.com/a.jpg") == "url=https://example.com/a.jpg&\(query)")
        #expect(throws: Never.self) { try dialect.image("/unsafe/\(path)example.com/a.jpg") }
    }

    @Test(arguments: [
        ("example.com/a.jpg", "https://example.com/a.jpg"), ("http://example.com/a.jpg", "http://example.com/a.jpg"),
        ("https%3A%2F%2Fexample.com%2Fa.jpg", "https://example.com/a.jpg"), ("a.jpg", "local:///a.jpg"),
        ("folder/a.jpg", "local:///folder/a.jpg"), ("local:///a.jpg", "local:///a.jpg"),
        ("s3://bucket/a.jpg", "s3://bucket/a.jpg"), ("b64:ZXhhbXBsZS5jb20vYS5qcGc", "https://example.com/a.jpg"),
        ("example.com:8080/a.jpg", "https://example.com:8080/a.jpg"),
        ("example.com/a.jpg?x=1", "https://example.com/a.jpg?x=1"), ("300x200.jpg", "local:///300x200.jpg"),
        ("smart", "local:///smart"),
    ])
    func `An image is a URL, a host with a path, base64 or a local file`(image: String, url: String) throws {
        #expect(try dialect.image("/unsafe/\(image)").url == url)
    }

    @Test(arguments: [
        ("200x100/color:red", "ff0000ff", "w=200&h=100&fit=fill&enlarge=true&bg=000000ff&output=jpg"),
        ("x100/color:none", "00000000", "w=100&h=100&fit=fill&enlarge=true&bg=000000ff&output=jpg"),
        ("color:fff", "ffffffff", "bg=000000ff&output=jpg"),
        (
            "fit-in/9x5/smart/filters:no_upscale():format(png)/color:ff000080", "ff000080",
            "w=9&h=5&fit=fill&enlarge=true&output=png"
        ),
    ])
    func `A color in place of an image is a canvas of the size of the result`(
        path: String, color: String, query: String
    ) throws {
        #expect(try dialect.text("/unsafe/\(path)") == "url=color:///\(color)&\(query)")
        #expect(throws: Never.self) { try dialect.image("/unsafe/\(path)") }
    }

    @Test func `A base precedes images without a scheme`() throws {
        let dialect = Thumbor(base: SourcePrefix("https://img.example.com/media/"))
        #expect(try dialect.image("/unsafe/a.jpg").url == "https://img.example.com/media/a.jpg")
        #expect(try dialect.image("/unsafe/example.com/a.jpg").url == "https://img.example.com/media/example.com/a.jpg")
        #expect(try dialect.image("/unsafe/http://example.com/a.jpg").url == "http://example.com/a.jpg")
    }

    @Test(arguments: [
        "%252e%252e/b.jpg", "a/%252e%252e/%252e%252e/b.jpg", "%25252e%25252e%25252fb.jpg", "..%5Cb.jpg", "..;/b.jpg",
        "%252e%252e%252fb.jpg", "%5C%5Cevil.example/b.jpg", "",
    ])
    func `An image with a base cannot lead out of it, whatever decodes its path`(image: String) {
        let dialect = Thumbor(base: SourcePrefix("https://img.example.com/media/"))
        #expect(dialect.refusal("/unsafe/\(image)") != nil)
        #expect(dialect.refusal("/unsafe/filters:watermark(\(image),0,0,0)/a.jpg") != nil)
    }

    @Test(arguments: [
        "fit-in/300x200/filters%3Ablur%285%29%3Aformat%28png%29/example.com/a.jpg",
        "fit-in/300x200/filters:blur(5):format(png)/https%3A%2F%2Fexample.com%2Fa.jpg",
        "fit-in/300x200/filters%3Ablur(5)%3Aformat(png)%2Fexample.com/a.jpg",
    ])
    func `A path means the same whether it is encoded or not`(path: String) throws {
        #expect(
            try dialect.image("/unsafe/\(path)")
                == dialect.image("/unsafe/fit-in/300x200/filters:blur(5):format(png)/example.com/a.jpg"))
    }

    @Test(arguments: [
        ("filters:nose()/a.jpg", "There is no filter 'nose'. Did you mean 'noise'?"),
        ("filters:redact(nothing)/a.jpg", "blur, pixelate or a color"),
        ("filters:equalize()/a.jpg", "Filter 'equalize' is not available: "),
        ("1234567xorig/a.jpg", "too many digits"),
        ("filters:blur(5/a.jpg", "balanced parentheses"), ("filters:blur)5(/a.jpg", "balanced parentheses"),
        ("filters:blur/a.jpg", "must have parentheses"), ("300x200/", "names no image"), ("", "names no image"),
        ("../a.jpg", "must not contain '..'"), ("example.com/%2e%2e/a.jpg", "must not contain '..'"),
        ("a%00.jpg", "control characters"), ("a%FF.jpg", "valid percent-encoded"), ("a%2.jpg", "valid percent-encoded"),
        ("1234567x1/a.jpg", "too many digits"),
        (
            "filters:image(/9x9/filters:grayscale()/a.png)/a.jpg", "no other option or filter"
        ), ("filters:image(f-9xf/a.png)/a.jpg", "no other option or filter"),
        ("filters:image(a.png,0,0,0,mask)/a.jpg", "modes add, mask and mask-out"),
        ("9x9/filters:focal(0.1x0.1):focal(9x9)/a.jpg", "all be in pixels"),
    ])
    func `What has no meaning is refused with a sentence`(path: String, sentence: String) {
        #expect(
            dialect.refusal("/unsafe/\(path)")?.contains(sentence) == true,
            "\(dialect.refusal("/unsafe/\(path)") ?? "")")
    }

    @Test func `Long paths and long lists are refused`() {
        let filters = String(repeating: "blur(1):", count: 65)
        #expect(dialect.refusal("/unsafe/filters:\(filters)/a.jpg")?.contains("at most 64 filters") == true)
        let many = String(repeating: "blur(1):", count: 100_000)
        #expect(dialect.refusal("/unsafe/filters:\(many)/a.jpg")?.contains("more than 32768 bytes") == true)
        #expect(dialect.refusal("/unsafe/" + String(repeating: "a", count: 2_000_000)) != nil)
    }

    @Test func `A path expires at the time of its filter`() throws {
        let translation = try dialect.translate("/unsafe/filters:expire(1700000000500)/a.jpg", limits: QueryLimits())
        #expect(translation.expires == Date(timeIntervalSince1970: 1_700_000_000.5))
    }

    @Test func `Filters without an effect are listed with a reason`() throws {
        let translation = try dialect.translate("/unsafe/filters:strip_exif():dpi(72)/a.jpg", limits: QueryLimits())
        #expect(translation.ignored.map(\.name) == ["strip_exif", "dpi"])
        #expect(translation.ignored.allSatisfy { $0.reason.hasSuffix(".") })
    }
}
