import DarkroomDialects
import DarkroomQuery
import DarkroomTransforms
import Testing

/// One image that two services spell differently is one variant.
struct SharedVariantTests {
    @Test(arguments: [
        (
            "url=https://example.com/a.jpg&w=300&h=200&fit=cover&enlarge=true&output=webp&q=70",
            "/unsafe/300x200/filters:format(webp):quality(70)/example.com/a.jpg",
            "/cdn-cgi/image/width=300,height=200,fit=cover,format=webp,quality=70/https://example.com/a.jpg"
        ),
        (
            "url=https://example.com/a.jpg&w=300&h=200&fit=fill&enlarge=true&output=png",
            "/unsafe/stretch/300x200/filters:format(png)/example.com/a.jpg",
            "/cdn-cgi/image/f=png,h=100,w=150,dpr=2,fit=squeeze/https://example.com/a.jpg"
        ),
        (
            "url=https://example.com/a.jpg&w=300&h=200&fit=cover&enlarge=true&a=top&formats=none",
            "/unsafe/300x200/top/https%3A%2F%2Fexample.com%2Fa.jpg",
            "/cdn-cgi/image/w=300,h=200,fit=cover,g=top/https://example.com/a.jpg"
        ),
        (
            "url=https://example.com/a.jpg&output=webp", "/unsafe/filters:format(webp)/example.com/a.jpg",
            "/cdn-cgi/image/f=webp/https://example.com/a.jpg"
        ),
    ])
    func `thumbor's, Cloudflare's and Darkroom's spelling are one query and one chain`(
        own: String, thumbor: String, cloudflare: String
    ) throws {
        let image = try ImageQueryGrammar().parse(own)
        let others = [try Thumbor().image(thumbor), try Cloudflare().image(cloudflare)]
        for other in others {
            #expect(other == image)
            #expect(TransformChain(other.recipe).key == TransformChain(image.recipe).key)
        }
    }
}
