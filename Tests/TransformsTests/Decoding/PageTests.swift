import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Documents whose pages have sizes of their own, and icons.
struct PageTests {
    private let document = PagedTIFF(pages: [
        (100, 80, [200, 0, 0]), (300, 60, [0, 200, 0]), (40, 200, [0, 0, 200]), (300, 60, [9, 9, 9]),
    ]).file

    private func made(_ recipe: Recipe, page: Int, limits: PixelLimits = PixelLimits()) throws -> Pixels {
        try Pixels(produce(document, recipe, pages: PageSelection(first: page), limits: limits).body)
    }

    @Test(arguments: [(1, 50, 40), (2, 50, 10), (3, 50, 250)])
    func `Each page keeps its own proportions`(page: Int, width: Int, height: Int) throws {
        for resampling in Resampling.allCases {
            let pixels = try made(.box(50, enlarge: true, as: resampling), page: page)
            #expect(pixels.width == width && pixels.height == height)
        }
        let job = ImageJob(
            source: document, pages: PageSelection(first: page), chain: TransformChain(.box(50, enlarge: true)))
        let plan = try InProcessImageProcessor().plan(job)
        #expect(plan.size == PixelSize(width: width, height: height) && plan.sourceFrames == 4)
    }

    @Test func `A document describes the page that is asked for`() throws {
        let output = OutputOptions(format: .json)
        let body = try produce(document, output: output, pages: PageSelection(first: 2)).body
        #expect(String(buffer: body).contains(#""height":60"#) && String(buffer: body).contains(#""pages":4"#))
    }

    @Test func `The limit on pixels applies to the page, not to the file`() throws {
        let limits = PixelLimits(maxSourcePixels: 10_000)
        #expect(try made(Recipe(), page: 1, limits: limits).width == 100)
        #expect(try made(Recipe(), page: 3, limits: limits).width == 40)
        #expect(throws: ImageProcessingError.self) { try made(Recipe(), page: 2, limits: limits) }
    }

    @Test func `The largest and the smallest page are the first of their size`() throws {
        #expect(try made(Recipe(), page: PageSelection.largest)[0, 0] == [0, 200, 0])
        #expect(try made(Recipe(), page: PageSelection.smallest)[0, 0] == [200, 0, 0])
        let few = PixelLimits(maxFrames: 3)
        #expect(try made(Recipe(), page: 4, limits: few).width == 300)
        #expect(
            throws: ImageProcessingError.tooLarge(
                "The source has 4 pages; at most 3 are compared. Ask for one by its number.")
        ) {
            try made(Recipe(), page: PageSelection.largest, limits: few)
        }
    }

    @Test func `A page that the document lacks is refused`() throws {
        let reason = "there is no frame or page 5; the source has 4"
        #expect(throws: ImageProcessingError.badParameter(TransformError(parameter: "page", reason: reason))) {
            try made(Recipe(), page: 5)
        }
    }

    @Test func `Of an animation and of a single image, the largest is the first`() throws {
        let pages = PageSelection(first: PageSelection.largest)
        let animation = try Fixture.image("animation/disposal.gif")
        let output = OutputOptions(format: .gif)
        #expect(
            try produce(animation, output: output, pages: pages).body == produce(animation, output: output).body)
        let photo = try Fixture.image("formats/photo.jpg")
        #expect(try produce(photo, .box(9), pages: pages).body == produce(photo, .box(9)).body)
    }

    @Test(.enabled(if: SourceFormat.heic.isAvailable))
    func `The primary image of a HEIC file is used unless a page is named`() throws {
        let source = try Fixture.image("formats/primary.heic")
        func pixels(_ page: Int, _ recipe: Recipe = Recipe()) throws -> Pixels {
            try Pixels(produce(source, recipe, pages: PageSelection(first: page)).body)
        }
        #expect(try SourceHeader(of: source).size == PixelSize(width: 64, height: 120))
        for (page, width, height) in [
            (PageSelection.primary, 64, 120), (1, 96, 64), (2, 64, 120), (PageSelection.largest, 64, 120),
            (PageSelection.smallest, 96, 64),
        ] {
            let found = try pixels(page)
            #expect(found.width == width && found.height == height, "page \(page): \(found.width)x\(found.height)")
            let isPrimary = width == 64
            #expect(found[10, 10][isPrimary ? 1 : 0] > 120 && found[10, 10][isPrimary ? 0 : 1] < 80, "page \(page)")
        }
        let small = try pixels(PageSelection.primary, .box(30))
        #expect(small.width == 30 && small.height == 56)
    }

    @Test func `An icon's largest or smallest image is used whatever the size of the result`() throws {
        let icon = BitmapFile.icon([
            BitmapFile.iconImage(side: 16, [200, 0, 0, 255]), BitmapFile.iconImage(side: 64, [0, 200, 0, 255]),
            BitmapFile.iconImage(side: 32, [0, 0, 200, 255]),
        ])
        func pixels(_ page: Int, _ recipe: Recipe) throws -> Pixels {
            try Pixels(produce(icon, recipe, pages: PageSelection(first: page)).body)
        }
        let (largest, smallest) = (PageSelection.largest, PageSelection.smallest)
        #expect(try pixels(1, .box(10))[5, 5] == [200, 0, 0, 255])
        #expect(try pixels(largest, .box(10))[5, 5] == [0, 200, 0, 255])
        #expect(try pixels(largest, Recipe()).width == 64)
        #expect(try pixels(smallest, .box(40, enlarge: true))[5, 5] == [200, 0, 0, 255])
        let small = try pixels(smallest, Recipe())
        #expect(small.width == 16 && small[5, 5] == [200, 0, 0, 255])
        #expect(try pixels(smallest, .box(30)).width == 16)
    }
}
