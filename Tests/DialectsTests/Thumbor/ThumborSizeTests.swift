import DarkroomDialects
import DarkroomRequests
import DarkroomTransforms
import Testing

/// Sizes of results that imagor has made of sources of these sizes.
struct ThumborSizeTests {
    struct Row: Sendable {
        let path: String
        let source: PixelSize
        let result: PixelSize

        init(_ path: String, _ width: Int, _ height: Int, _ resultWidth: Int, _ resultHeight: Int) {
            self.path = path
            source = PixelSize(width: width, height: height)
            result = PixelSize(width: resultWidth, height: resultHeight)
        }
    }

    private static let rows = [
        Row("0.006120x0.008993:1.0x1.0/stretch/100x200/filters:fill(black)/", 1634, 2224, 100, 200),
        Row("0.1x0.2:0.89x0.72/", 121, 128, 96, 66),
        Row("0x0/40x50/filters:fill(white)/", 202, 259, 282, 359),
        Row("0x100:9999x9999/300x100/filters:fill(white):focal(589x401:1000x814)/", 1634, 2224, 300, 100),
        Row("0x50/filters:fill(white)/", 100, 68, 74, 50),
        Row("100x100/10x5/top/filters:fill(white)/", 1634, 2224, 120, 110),
        Row("100x100/10x5/top/filters:fill(yellow)/", 121, 128, 120, 110),
        Row("100x100/", 200, 200, 100, 100),
        Row("100x100/", 121, 128, 100, 100),
        Row("100x100/", 1634, 2224, 100, 100),
        Row("100x100/", 512, 512, 100, 100),
        Row("100x100/smart/", 1634, 2224, 100, 100),
        Row("100x200/left/bottom/", 121, 128, 100, 200),
        Row("100x200/left/bottom/", 1634, 2224, 100, 200),
        Row("100x200/left/", 121, 128, 100, 200),
        Row("100x200/left/filters:orient(90)/", 1634, 2224, 100, 200),
        Row("100x200/left/", 1634, 2224, 100, 200),
        Row("100x200/right/", 121, 128, 100, 200),
        Row("100x200/right/", 1634, 2224, 100, 200),
        Row("100x200/right/top/", 121, 128, 100, 200),
        Row("100x200/right/top/", 1634, 2224, 100, 200),
        Row("100x30/filters:focal(0.1x0:0.89x0.72)/", 121, 128, 100, 30),
        Row("100x30/filters:focal(0.89x0.72)/", 121, 128, 100, 30),
        Row("100x300/filters:fill(white):focal(589x401:1000x814)/", 1634, 2224, 100, 300),
        Row("10x20:3000x5000/stretch/100x200/filters:fill(black)/", 1634, 2224, 100, 200),
        Row("200x-210/top/", 1634, 2224, 200, 210),
        Row("200x100/bottom/", 121, 128, 200, 100),
        Row("200x100/bottom/", 1634, 2224, 200, 100),
        Row("200x100/left/bottom/", 121, 128, 200, 100),
        Row("200x100/left/bottom/", 1634, 2224, 200, 100),
        Row("200x100/right/top/", 121, 128, 200, 100),
        Row("200x100/right/top/", 1634, 2224, 200, 100),
        Row("200x100/top/", 121, 128, 200, 100),
        Row("200x100/top/", 1634, 2224, 200, 100),
        Row("200x200/filters:crop(20,20,160,160)/", 121, 128, 160, 160),
        Row("200x200/", 1634, 2224, 200, 200),
        Row("200x200/", 1900, 1263, 200, 200),
        Row("300x100/filters:fill(white):focal(0.35x0.25:0.6x0.3)/", 1634, 2224, 300, 100),
        Row("300x100/filters:fill(white):focal(589x401):focal(1000x814)/", 1634, 2224, 300, 100),
        Row("300x100/filters:fill(white):focal(589x401:1000x814)/", 1634, 2224, 300, 100),
        Row("300x100/filters:fill(white):focal(9999x9999)/", 1634, 2224, 300, 100),
        Row("300x300/filters:crop(0.1,0.1,0.8,0.8)/", 1634, 2224, 240, 240),
        Row("300x300/filters:crop(250,250,200,200)/", 1634, 2224, 50, 50),
        Row("300x300/filters:crop(50,50,200,200)/", 1634, 2224, 200, 200),
        Row("30x20:100x150/", 121, 128, 70, 107),
        Row("400x400/filters:fill(yellow):crop(50,50,300,300)/", 1634, 2224, 300, 300),
        Row("500x0/filters:no_upscale()/", 202, 259, 202, 259),
        Row("500x200/filters:no_upscale()/", 202, 259, 202, 200),
        Row("500x400/filters:no_upscale()/", 202, 259, 202, 259),
        Row("50x0/filters:fill(white)/", 100, 68, 50, 34),
        Row("adaptive-fit-in/100x200/", 1634, 2224, 100, 136),
        Row("adaptive-fit-in/200x100/filters:fill(white)/", 202, 259, 100, 200),
        Row("adaptive-fit-in/200x100/", 202, 259, 100, 128),
        Row("adaptive-fit-in/200x100/", 1634, 2224, 100, 136),
        Row("adaptive-full-fit-in/100x200/", 1634, 2224, 147, 200),
        Row("adaptive-full-fit-in/200x100/filters:fill(yellow)/", 202, 259, 156, 200),
        Row("adaptive-full-fit-in/500x400/", 202, 259, 400, 513),
        Row(
            "filters:round_corner():padding():rotate():proportion():proportion(0.0000000001)/",
            202, 259, 202, 259),
        Row("filters:fill(cyan):round_corner(60)/", 121, 128, 121, 128),
        Row("filters:fill(white)/", 121, 128, 121, 128),
        Row("filters:fill(white)/", 1634, 2224, 1634, 2224),
        Row("filters:proportion():proportion(9999):proportion(0.0000000001):proportion(-10)/", 202, 259, 202, 259),
        Row("filters:proportion(0.1)/", 1634, 2224, 163, 222),
        Row("filters:proportion(10)/", 1634, 2224, 163, 222),
        Row("fit-in/-180x180/10x10/filters:fill(yellow):padding(white,10,20,30,40)/", 1634, 2224, 240, 260),
        Row("fit-in/-200x0/filters:fill(FFO):upscale()/", 1634, 2224, 200, 272),
        Row("fit-in/0x210/filters:fill(yellow):round_corner(40,60,green)/", 1634, 2224, 154, 210),
        Row("fit-in/0x50/filters:fill(white)/", 100, 68, 74, 50),
        Row("fit-in/100x100/10x5/filters:fill(none)/", 1634, 2224, 120, 110),
        Row("fit-in/100x100/10x5/filters:fill(white)/", 1634, 2224, 120, 110),
        Row("fit-in/100x100/", 200, 200, 100, 100),
        Row("fit-in/100x100/", 70, 87, 70, 87),
        Row("fit-in/100x100/filters:fill(none)/", 293, 115, 100, 100),
        Row("fit-in/100x100/", 202, 259, 78, 100),
        Row("fit-in/100x100/", 200, 100, 100, 50),
        Row("fit-in/100x120/10x5/filters:fill(none)/", 200, 200, 120, 130),
        Row("fit-in/100x150/filters:rotate(90):fill(yellow)/", 121, 128, 150, 100),
        Row("fit-in/100x210/10x20:15x3/filters:rotate(90):fill(yellow)/", 202, 259, 233, 125),
        Row("fit-in/200x210/20x20/filters:rotate(90):rotate(270):rotate(180):fill(blur)/", 1634, 2224, 240, 250),
        Row("fit-in/50x0/filters:fill(white)/", 100, 68, 50, 34),
        Row("fit-in/67x67/", 121, 128, 63, 67),
        Row("fit-in/67x67/", 200, 200, 67, 67),
        Row("fit-in/67x67/", 70, 87, 54, 67),
        Row("fit-in/67x67/", 202, 259, 52, 67),
        Row("fit-in/67x67/", 200, 100, 67, 34),
        Row("fit-in/stretch/100x100/10x10/filters:fill(transparent)/", 1634, 2224, 120, 120),
        Row("full-fit-in/100x65/", 1900, 1263, 100, 66),
        Row("full-fit-in/102x30/", 100, 68, 102, 69),
        Row("full-fit-in/200x300/", 202, 259, 234, 300),
        Row("full-fit-in/300x200/", 1634, 2224, 300, 408),
        Row("full-fit-in/300x200/smart/", 1634, 2224, 300, 408),
        Row("full-fit-in/30x39/", 202, 259, 30, 39),
        Row("full-fit-in/500x400/", 202, 259, 500, 641),
        Row("full-fit-in/74x11/", 202, 259, 74, 95),
        Row("stretch/100x100/10x5/filters:fill(white)/", 1634, 2224, 120, 110),
        Row("stretch/100x100/", 1634, 2224, 100, 100),
        Row("stretch/100x200/", 121, 128, 100, 200),
    ]

    @Test(arguments: rows)
    func `A result has imagor's size`(row: Row) throws {
        #expect(try Thumbor().size("/unsafe/\(row.path)a.jpg", of: row.source) == row.result)
    }

    /// A side of a box that is left out is rounded where an image is scaled while it is decoded, and cut off where it
    /// is decoded in full.
    @Test(arguments: [
        ("fit-in/100x0/", 100, 67), ("fit-in/100x0/filters:rotate(180)/", 99, 66), ("100x0/", 100, 67),
        ("100x-0/", 100, 66), ("100x0/filters:rotate(180)/", 100, 66), ("0x100/", 150, 100),
        ("0x100/filters:focal(1x1)/", 149, 100), ("10x10:990x650/100x0/", 100, 65),
    ])
    func `A missing side follows from how the image is decoded`(path: String, width: Int, height: Int) throws {
        let size = try Thumbor().size("/unsafe/\(path)a.jpg", of: PixelSize(width: 1000, height: 667))
        #expect(size == PixelSize(width: width, height: height))
    }

    @Test func `Sizes and points refer to the upright source`() throws {
        let stored = PixelSize(width: 2224, height: 1634)
        #expect(
            try Thumbor().size("/unsafe/full-fit-in/300x200/a.jpg", of: stored, orientation: 6)
                == PixelSize(width: 300, height: 408))
        #expect(
            try Thumbor().size("/unsafe/adaptive-fit-in/200x300/a.jpg", of: stored, orientation: 6)
                == PixelSize(width: 200, height: 272))
        #expect(
            try Thumbor().size("/unsafe/filters:orient(90)/a.jpg", of: stored)
                == PixelSize(width: 1634, height: 2224))
    }
}
