import DarkroomRequests
import Testing

@testable import DarkroomQuery

/// What the paths of the IIIF Image API 3.0 mean for an image of a certain size.
struct IIIFImagePathTests {
    /// The image of the specification's examples.
    private let example = PixelSize(width: 300, height: 200)

    private func image(
        _ path: String, of full: PixelSize? = nil, limits: PixelLimits = PixelLimits()
    ) throws -> IIIFImage {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return try IIIFImagePath(region: segments[0], size: segments[1], rotation: segments[2], file: segments[3])
            .image(of: "shop:a.jpg", full: full ?? example, limits: limits)
    }

    private func refusal(
        _ path: String, of full: PixelSize? = nil, limits: PixelLimits = PixelLimits()
    ) -> InvalidParameter? {
        do { _ = try image(path, of: full, limits: limits) } catch { return error as? InvalidParameter }
        return nil
    }

    @Test(arguments: [
        ("full", "full"), ("square", "50,0,200,200"), ("125,15,120,140", "125,15,120,140"),
        ("pct:41.6,7.5,40,70", "125,15,120,140"), ("125,15,200,200", "125,15,175,185"),
        ("pct:41.6,7.5,66.6,100", "125,15,175,185"), ("0,0,300,200", "full"), ("0,0,999999999,999999999", "full"),
        ("pct:0,0,100,100", "full"), ("299,199,1,1", "299,199,1,1"), ("pct:.5,0.5,33.3333,50", "2,1,100,100"),
        ("pct:0,0,9999999999999999,100", "full"),
        ("pct:33.333333333333336,.1234567890123456789,66.66666666666667,49.99999999999999999999999", "100,0,200,100"),
    ])
    func `A region is cropped at the edges of the image`(region: String, canonical: String) throws {
        let image = try image("\(region)/max/0/default.jpg")
        #expect(image.canonicalPath == "\(canonical)/max/0/default.jpg")
        let crop = image.query.recipe.crop
        #expect(crop.map { "\($0.x),\($0.y),\($0.width),\($0.height)" } ?? "full" == canonical)
        #expect(image.query.recipe.box.isEmpty)
    }

    @Test func `A square of a portrait is in its middle`() throws {
        let portrait = PixelSize(width: 200, height: 301)
        #expect(try image("square/max/0/default.jpg", of: portrait).canonicalPath.hasPrefix("0,50,200,200/"))
        let square = PixelSize(width: 9, height: 9)
        #expect(try image("square/max/0/default.jpg", of: square).canonicalPath.hasPrefix("full/"))
    }

    @Test(arguments: [
        "", "ful", "Full", "square ", "1,2,3", "1,2,3,4,5", "1,2,,3,4", "1,2,3,", "a,b,c,d", "-1,0,9,9", "0,0,9,-9",
        "1.5,0,9,9", "0,0,+9,9", "0,0,0,9", "0,0,9,0", "300,0,9,9", "0,200,9,9", "0,0,9999999999,9", "pct:",
        "pct:1,2,3",
        "pct:1,2,3,x", "pct:-1,0,9,9", "pct:0,0,0,9", "pct:100,0,9,9", "pct:0,0,0.1,0.1", "pct:0,0,1e1,1",
        "pct:0,0,9,9%",
        "pct:0,0,9.,9", "PCT:0,0,9,9", "pct:nan,0,9,9", "pct:0,0,.,9", "pct:0,0,1.2.3,9", "pct:0,0,99999999999999999,9",
        "pct:0,0,9.000000000000000000000000000000001,9",
    ])
    func `A region that is malformed, empty or outside of the image is refused`(region: String) {
        #expect(refusal("\(region)/max/0/default.jpg")?.parameter == "region")
    }

    @Test(arguments: [
        ("max", "max", 300, 200), ("150,", "150,100", 150, 100), (",150", "225,150", 225, 150),
        ("pct:50", "150,100", 150, 100), ("225,100", "225,100", 225, 100), ("!225,100", "150,100", 150, 100),
        ("!999,100", "150,100", 150, 100), ("^360,", "^360,240", 360, 240), ("^,240", "^360,240", 360, 240),
        ("^pct:120", "^360,240", 360, 240), ("^360,360", "^360,360", 360, 360), ("^!360,360", "^360,240", 360, 240),
        ("^150,", "150,100", 150, 100), ("^!150,999", "150,100", 150, 100), ("300,", "max", 300, 200),
        ("^300,200", "max", 300, 200), ("pct:100", "max", 300, 200), ("pct:33.3333", "100,67", 100, 67),
        ("100,", "100,67", 100, 67), (",1", "2,1", 2, 1), ("300,1", "300,1", 300, 1), ("^1,400", "^1,400", 1, 400),
        ("!300,300", "max", 300, 200), ("^max", "^max", 8192, 5461), ("pct:0.5", "2,1", 2, 1),
        ("^!99999,99999", "^max", 8192, 5461), ("0150,", "150,100", 150, 100),
    ])
    func `A size follows from the region, rounded to the nearest pixel`(
        size: String, canonical: String, width: Int, height: Int
    ) throws {
        for region in ["full", "125,15,300,200"] {
            let full = region == "full" ? example : PixelSize(width: 500, height: 300)
            let image = try image("\(region)/\(size)/0/default.jpg", of: full)
            #expect(image.canonicalPath == "\(region)/\(canonical)/0/default.jpg")
            let box = image.query.recipe.box
            #expect(box.width ?? 300 == width && box.height ?? 200 == height)
            #expect(box.isEmpty == ((width, height) == (300, 200)))
            #expect(box.isEmpty || image.query.recipe.fit == .fill && image.query.recipe.enlarge)
        }
    }

    @Test(arguments: [
        "", "^", "full", "Max", "^^max", "!max", "max ", "150", "^150", "!150,", "!,150", "^!150,", ",", "!,", "1,2,3",
        "-1,", "1.5,", "a,b", "pct:", "pct:-1", "pct:a", "pct:1e1", "pct:50%", "!pct:50", "0,", ",0", "0,0", "!0,9",
        "pct:0", "pct:0.1", "301,", ",201", "301,1", "1,201", "pct:100.4", "pct:200", "!301,201", "!9999,9999",
        "^8193,", "^,8193", "^8192,8192", "^pct:9999999999999999", "^999999999,999999999", "9999999999,",
    ])
    func `A size that is malformed, empty, too large, or larger than the region without ^, is refused`(size: String) {
        #expect(refusal("full/\(size)/0/default.jpg")?.parameter == "size")
    }

    @Test func `The limits bound the largest sizes, and refuse others`() throws {
        let side = PixelLimits(maxOutputSide: 200)
        #expect(try image("full/max/0/default.jpg", limits: side).query.recipe.box == Box(width: 200, height: 133))
        for size in ["max", "^max", "!300,300", "^!900,900", "200,133"] {
            #expect(try image("full/\(size)/0/default.jpg", limits: side).canonicalPath == "full/max/0/default.jpg")
        }
        for size in ["201,", "300,", "pct:100", "^400,"] {
            let refusal = refusal("full/\(size)/0/default.jpg", limits: side)
            #expect(refusal?.detail.contains("at most 200 pixels per side") == true)
        }
        let area = PixelLimits(maxOutputPixels: 5000)
        let box = try image("full/max/0/default.jpg", limits: area).query.recipe.box
        #expect(box == Box(width: 86, height: 57))
        #expect(refusal("full/100,67/0/default.jpg", limits: area)?.detail.contains("5000 in total") == true)
        let line = PixelSize(width: 100_000, height: 1)
        #expect(try image("full/max/0/default.jpg", of: line).query.recipe.box == Box(width: 8192, height: 1))
        #expect(refusal("full/100,/0/default.jpg", of: line)?.detail.contains("at least one pixel") == true)
    }

    @Test(arguments: [
        ("0", "0", false, 0), ("90", "90", false, 90), ("360", "0", false, 0), ("22.5", "22.5", false, 22.5),
        (".50", "0.5", false, 0.5), ("!0", "!0", true, 0), ("!360", "!0", true, 0), ("!90", "!90", true, 270),
        ("!345", "!345", true, 15), ("007", "7", false, 7),
    ])
    func `An image is mirrored and then rotated`(
        rotation: String, canonical: String, mirrors: Bool, degrees: Double
    ) throws {
        let image = try image("full/max/\(rotation)/default.jpg")
        #expect(image.canonicalPath == "full/max/\(canonical)/default.jpg")
        #expect(image.query.recipe.flop == mirrors && !image.query.recipe.flip)
        #expect(image.query.recipe.rotationDegrees == degrees)
    }

    @Test(arguments: ["", "!", "!!0", "-90", "+90", "361", "360.1", "90.", "1e2", "0x10", "nan", "inf", "90 ", "٩"])
    func `A rotation is a number from 0 to 360`(rotation: String) {
        #expect(refusal("full/max/\(rotation)/default.jpg")?.parameter == "rotation")
    }

    @Test func `A rotated image is within the limits too`() {
        let limits = PixelLimits(maxOutputSide: 300)
        #expect(refusal("full/max/90/default.jpg", limits: limits) == nil)
        #expect(refusal("full/max/45/default.jpg", limits: limits)?.parameter == "size")
        #expect(refusal("full/150,/45/default.jpg", limits: limits) == nil)
    }

    @Test(arguments: [
        ("default.jpg", "default.jpg", nil, OutputFormat.jpeg), ("color.png", "default.png", nil, .png),
        ("gray.webp", "gray.webp", Filter.greyscale, .webp), ("bitonal.tif", "bitonal.tif", .bitonal, .tiff),
        ("default.gif", "default.gif", nil, .gif), ("default.avif", "default.avif", nil, .avif),
        ("gray.jxl", "gray.jxl", .greyscale, .jxl),
    ])
    func `Quality and format have their canonical names`(
        file: String, canonical: String, filter: Filter?, format: OutputFormat
    ) throws {
        let image = try image("full/max/0/\(file)")
        #expect(image.canonicalPath == "full/max/0/\(canonical)")
        #expect(image.query.recipe.filter == filter && image.query.output.format == format)
        #expect(image.query.pages == PageSelection(count: 1))
        #expect(image.query.url == "shop:a.jpg")
    }

    @Test(arguments: [
        ("default", "format"), ("default.", "format"), ("default.jpeg", "format"), ("default.jp2", "format"),
        ("default.pdf", "format"), ("default.json", "format"), ("default.JPG", "format"), (".jpg", "quality"),
        ("native.jpg", "quality"), ("Gray.jpg", "quality"), ("default.a.jpg", "quality"), ("", "quality"),
    ])
    func `Another quality or format is refused`(file: String, parameter: String) {
        #expect(refusal("full/max/0/\(file)")?.parameter == parameter)
    }

    @Test func `Paths that mean the same image have equal queries`() throws {
        let paths = [
            "full/150,/0/default.jpg", "full/,100/360/color.jpg", "pct:0,0,100,100/pct:50/0/default.jpg",
            "0,0,300,200/!150,100/0/default.jpg", "0,0,400,400/^150,100/0/default.jpg",
        ]
        #expect(Set(try paths.map { try image($0).query }).count == 1)
        #expect(Set(try paths.map { try image($0).canonicalPath }).count == 1)
    }

    @Test func `A segment is decoded once`() throws {
        #expect(try IIIFPath.text(of: "pct%3A1%2C2", named: "region") == "pct:1,2")
        #expect(try IIIFPath.text(of: "a%252Fb+c", named: "identifier") == "a%2Fb+c")
        for bad in ["%", "%2", "%zz", "%ff"] {
            #expect(throws: InvalidParameter.self) { try IIIFPath.text(of: bad, named: "identifier") }
        }
    }
}
