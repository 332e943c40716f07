import DarkroomDialects
import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests
import Testing

struct CloudflareTests {
    private let dialect = Cloudflare()

    private static let rows: [(options: String, query: String)] = [
        ("width=80,quality=75", "w=80&formats=none&q=75"),
        ("w=80,h=60", "w=80&h=60&formats=none"),
        ("width=auto", "formats=none"),
        ("width=auto,height=50", "h=50&formats=none"),
        ("width=300,height=200,fit=scale-down", "w=300&h=200&formats=none"),
        ("width=300,height=200,fit=contain", "w=300&h=200&enlarge=true&formats=none"),
        ("width=300,height=200,fit=cover", "w=300&h=200&fit=cover&enlarge=true&formats=none"),
        ("width=300,height=200,fit=crop", "w=300&h=200&fit=outside&formats=none&rules=cloudflare"),
        ("width=300,height=200,fit=aspect-crop", "w=300&h=200&fit=cover&formats=none"),
        ("width=300,height=200,fit=pad", "w=300&h=200&fit=contain&enlarge=true&cbg=ffffffff&formats=none"),
        ("width=300,height=200,fit=squeeze", "w=300&h=200&fit=fill&enlarge=true&formats=none"),
        (
            "width=300,height=200,fit=scale-up",
            "w=300&h=200&fit=outside&enlarge=true&formats=none&rules=cloudflare"
        ),
        ("width=300,fit=cover", "w=300&enlarge=true&formats=none"),
        ("width=300,fit=crop,gravity=left", "w=300&formats=none"),
        ("width=300,height=200,dpr=2", "w=600&h=400&formats=none"),
        ("width=300,dpr=0.5", "w=150&formats=none"),
        ("w=30,h=20,fit=cover,gravity=auto", "w=30&h=20&fit=cover&enlarge=true&a=attention&formats=none"),
        ("w=30,h=20,fit=cover,g=face", "w=30&h=20&fit=cover&enlarge=true&a=faces&formats=none"),
        (
            "w=30,h=20,fit=cover,g=face,face-zoom=0.5",
            "w=30&h=20&fit=cover&enlarge=true&a=faces&facezoom=0.5&formats=none"
        ),
        ("w=30,h=20,fit=cover,g=auto,zoom=0.5", "w=30&h=20&fit=cover&enlarge=true&a=attention&formats=none"),
        ("w=30,h=20,fit=cover,g=left", "w=30&h=20&fit=cover&enlarge=true&a=left&formats=none"),
        (
            "w=30,h=20,fit=cover,g=0.5x0.33",
            "w=30&h=20&fit=cover&enlarge=true&a=focal&fpx=0.5&fpy=0.33&formats=none"
        ),
        ("w=30,h=20,fit=cover,g=0x1", "w=30&h=20&fit=cover&enlarge=true&a=focal&fpx=0&fpy=1&formats=none"),
        ("trim=20;30;20;0", "inset=20,30,20,0&formats=none"),
        ("trim=20;30;20;0,dpr=2", "inset=40,60,40,0&formats=none"),
        (
            "trim.width=678,trim.height=100,trim.left=30,trim.top=40",
            "crop=30,40,678,100&formats=none&rules=cloudflare"
        ),
        ("trim.left=30", "crop=30,0,100p,100p&formats=none&rules=cloudflare"),
        ("trim=border", "trim=10&formats=none"), ("trim=auto", "trim=10&formats=none"),
        ("width=300,height=200,fit=pad,bg=red", "w=300&h=200&fit=contain&enlarge=true&bg=ff0000ff&formats=none"),
        ("trim.border.color=red,trim.border.tolerance=5", "trim=5&tbg=ff0000ff&formats=none"),
        ("rotate=90", "ro=90&formats=none&rules=cloudflare"), ("rotate=0", "formats=none"),
        ("flip=h,rotate=90", "ro=90&flop=true&formats=none&rules=cloudflare"),
        ("flip=hv", "flip=true&flop=true&formats=none&rules=cloudflare"),
        ("border.width=10,border.color=%23fff", "steps=pad:ffffffff:10:10:10:10&formats=none"),
        (
            "border.top=1,border.right=2,border.bottom=3,border.left=4,dpr=2",
            "steps=pad:000000ff:2:4:6:8&formats=none"
        ),
        ("background=%23F8F8F8", "bg=f8f8f8ff&formats=none"),
        ("background=rgb(240%2C40%2C145)", "bg=f02891ff&formats=none"),
        ("background=rgba(1%2C2%2C3%2C0.5)", "bg=01020380&formats=none"),
        ("background=red", "bg=ff0000ff&formats=none"),
        ("blur=50", "blur=25&formats=none"), ("blur=0", "formats=none"),
        ("brightness=0.5", "steps=linear:0.5:0:0:0&formats=none"), ("brightness=1", "formats=none"),
        ("contrast=1.5", "steps=linear:1.5:-25:-25:-25&formats=none"),
        ("gamma=0.5", "gam=0.5&formats=none"), ("gamma=0", "formats=none"),
        ("saturation=0.5", "sat=0.5&formats=none"), ("saturation=0", "sat=0&formats=none"),
        ("sharpen=2", "sharp=1&formats=none"), ("sharpen=0", "formats=none"),
        ("format=auto", "output=auto"), ("f=avif", "output=avif"), ("f=webp", "output=webp"),
        ("f=jpeg", "output=jpg&il=true"), ("f=baseline-jpeg", "output=jpg"), ("f=png", "output=png"),
        ("format=json", "output=json"), ("f=webp,q=100", "output=webp&ll=true"),
        ("quality=high", "formats=none&q=auto&target=high"),
        ("quality=medium-high", "formats=none&q=auto&target=medium"),
        ("quality=medium-low", "formats=none&q=auto&target=low"),
        ("q=low", "formats=none&q=auto&target=low"),
        ("scq=50,q=80", "slow_q=50&formats=none&q=80"), ("scq=medium-low", "slow_q=60&formats=none"),
        ("anim=false", "formats=none&n=1"), ("anim=true", "formats=none"),
        ("onerror=redirect", "default=1&formats=none"),
        ("compression=fast,zoom=0.5,upscale=interpolate", "formats=none"),
        ("metadata=none", "metadata=none&formats=none"), ("metadata=keep", "metadata=all&formats=none"),
        ("metadata=copyright", "formats=none"),
    ]

    @Test(arguments: rows)
    func `Each option means these parameters, which the server reads`(options: String, query: String) throws {
        let path = "/cdn-cgi/image/\(options)/https://example.com/a.jpg"
        #expect(try dialect.text(path) == "url=https://example.com/a.jpg&\(query)")
        #expect(throws: Never.self) { try dialect.image(path) }
    }

    @Test(arguments: [
        ("uploads/avatar1.jpg", "local:///uploads/avatar1.jpg"), ("/a.jpg", "local:///a.jpg"),
        ("https://example.com/a%20b.jpg?x=1&y", "https://example.com/a%20b.jpg?x=1&y"),
        ("https%3A%2F%2Fexample.com%2Fa.jpg", "https://example.com/a.jpg"),
        ("example.com/a.jpg", "local:///example.com/a.jpg"),
    ])
    func `A source is a path of the origin or a URL`(source: String, url: String) throws {
        #expect(try dialect.image("/cdn-cgi/image/w=9/\(source)").url == url)
    }

    @Test func `An origin precedes paths`() throws {
        let dialect = Cloudflare(origin: SourcePrefix("https://www.example.com/"))
        #expect(try dialect.image("/cdn-cgi/image/w=9/uploads/a.jpg").url == "https://www.example.com/uploads/a.jpg")
    }

    @Test(arguments: [
        "%252e%252e/b.jpg", "a/%252e%252e/%252e%252e/b.jpg", "%25252e%25252e/b.jpg", "..%5Cb.jpg", "..;/b.jpg",
        "%2e%2e/b.jpg", "%5C%5Cevil.example/b.jpg",
    ])
    func `A source behind the origin's path cannot lead out of it, whatever decodes it`(source: String) {
        let dialect = Cloudflare(origin: SourcePrefix("https://www.example.com/media/"))
        #expect(dialect.refusal("/cdn-cgi/image/w=5/\(source)") != nil)
    }

    @Test(arguments: [
        ("nose=1/a.jpg", "There is no option 'nose'"), ("segment=foreground/a.jpg", "'segment' is not available"),
        ("zoom=2/a.jpg", "from 0 to 1"), ("gravity=2x1/a.jpg", "a number from 0 to 1"),
        ("gravity=up/a.jpg", "coordinates"), ("width=0/a.jpg", "an integer from 1"), ("width=-5/a.jpg", "an integer"),
        ("width=x/a.jpg", "an integer"), ("fit=fill/a.jpg", "one of scale-down"), ("format=tiff/a.jpg", "must be auto"),
        ("quality=101/a.jpg", "from 1 to 100"), ("rotate=45/a.jpg", "90, 180 or 270"), ("flip=x/a.jpg", "h, v or hv"),
        ("trim=1;2;3/a.jpg", "top;right;bottom;left"), ("background=rgb(1)/a.jpg", "a CSS color"),
        ("onerror=x/a.jpg", "must be redirect"), ("upscale=generate/a.jpg", "interpolate"),
        ("w=9", "options and a source"),
        ("w=9/", "names no source"), ("/a.jpg", "1 to 64 options"), ("w=9/../a.jpg", "must not contain '..'"),
        ("w=9/%2e%2e/a.jpg", "must not contain '..'"), ("w=9/a%00.jpg", "control characters"),
        ("w=%FF/a.jpg", "valid percent-encoded"), ("w=9/a%FF.jpg", "valid percent-encoded"),
        ("w =9/a.jpg", "no option"),
    ])
    func `What has no meaning is refused with a sentence`(path: String, sentence: String) {
        let refusal = dialect.refusal("/cdn-cgi/image/\(path)")
        #expect(refusal?.contains(sentence) == true, "\(refusal ?? "")")
    }

    @Test func `Long paths and long lists are refused`() {
        let options = Array(repeating: "w=9", count: 65).joined(separator: ",")
        #expect(dialect.refusal("/cdn-cgi/image/\(options)/a.jpg")?.contains("1 to 64 options") == true)
        let long = String(repeating: "a", count: 2_000_000)
        #expect(dialect.refusal("/cdn-cgi/image/w=9/\(long)")?.contains("more than 32768 bytes") == true)
    }

    /// From the documentation of `fit`, and from its words on rotation and trims.
    @Test(arguments: [
        ("width=2000,height=2000", 1080, 720, 1080, 720), ("width=500,height=500", 1080, 720, 500, 333),
        ("width=500,height=500,fit=contain", 1080, 720, 500, 333),
        ("width=2000,height=2000,fit=contain", 1080, 720, 2000, 1333),
        ("width=500,height=500,fit=cover", 1080, 720, 500, 500),
        ("width=1296,height=1296,fit=cover", 1080, 720, 1296, 1296),
        ("width=1296,height=1296,fit=crop", 1080, 720, 1080, 720),
        ("width=500,height=500,fit=crop", 1080, 720, 500, 500),
        ("width=500,height=1000,fit=crop", 1080, 720, 500, 720),
        ("width=1920,height=1120,fit=aspect-crop", 612, 613, 612, 357),
        ("width=300,height=200,fit=aspect-crop", 1080, 720, 300, 200),
        ("width=1080,height=1080,fit=pad", 1080, 720, 1080, 1080),
        ("width=1080,height=540,fit=squeeze", 1080, 720, 1080, 540),
        ("width=2160,height=2160,fit=scale-up", 1080, 720, 2160, 1440),
        ("width=500,height=500,fit=scale-up", 1080, 720, 1080, 720),
        ("width=540", 1080, 720, 540, 360), ("height=360", 1080, 720, 540, 360), ("width=2000", 1080, 720, 1080, 720),
        ("width=270,dpr=2", 1080, 720, 540, 360), ("width=360,rotate=90", 1080, 720, 360, 540),
        ("rotate=180", 1080, 720, 1080, 720), ("trim=20;30;20;0", 1080, 720, 1050, 680),
        ("trim.width=678,trim.height=678,trim.left=30,trim.top=40", 1080, 720, 678, 678),
        ("trim.width=9999,trim.height=678,trim.left=30,trim.top=100", 1080, 720, 1050, 620),
        ("width=525,trim=20;30;20;0", 1080, 720, 525, 340), ("width=540,border.width=10", 1080, 720, 560, 380),
        ("width=540,border.top=5", 1080, 720, 540, 365),
    ])
    func `A result has the size of the documentation`(
        options: String, width: Int, height: Int, resultWidth: Int, resultHeight: Int
    ) throws {
        let size = try dialect.size(
            "/cdn-cgi/image/\(options)/a.jpg", of: PixelSize(width: width, height: height))
        #expect(size == PixelSize(width: resultWidth, height: resultHeight))
    }

    @Test func `Options without an effect are listed with a reason`() throws {
        let translation = try dialect.translate(
            "/cdn-cgi/image/trim.border.keep=5,compression=fast/a.jpg", limits: QueryLimits())
        #expect(translation.ignored.map(\.name) == ["trim.border.keep", "compression"])
    }
}
