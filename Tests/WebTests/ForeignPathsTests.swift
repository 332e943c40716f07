import DarkroomHTTPServer
import Testing

@testable import DarkroomWeb

/// What a server without another service's paths says of them.
struct ForeignPathsTests {
    @Test(arguments: [
        ("/insecure/rs:fit:300:200/plain/https://example.com/a.jpg", "imgproxy"),
        ("/AfrOrF3gWeDA6VOlDG4TzxMv39O7MXnF4CXpKUwGqRM/resize:fill:300:400:0/g:sm/aHR0cDovL2EuYi9j.png", "imgproxy"),
        ("/unsafe/300x200/smart/example.com/a.jpg", "thumbor"), ("/unsafe/fit-in/300x/example.com/a.jpg", "thumbor"),
        ("/unsafe/filters:blur(4)/example.com/a.jpg", "thumbor"), ("/unsafe/https://example.com/a.jpg", "thumbor"),
        ("/cdn-cgi/image/width=300/https://example.com/a.jpg", "cloudflare"),
    ])
    func `The problem names the setting that accepts a path of another service`(path: String, name: String) async throws
    {
        let problem = try await TestSite().problem(path)
        #expect(problem.type == "/problems/no-such-route")
        #expect(problem.detail.contains("compat=\(name)") == true, "\(problem.detail)")
        let admin = try await TestSite(listener: .admin).problem(path)
        #expect(!admin.detail.contains("compat"))
    }

    @Test(arguments: [
        "/nothing", "/a/b", "/a/b/c", "/photos/2024/summer.jpg", "/image/https://example.com/a.jpg", "/cdn-cgi/image/",
    ])
    func `Any other path has no endpoint`(path: String) async throws {
        #expect(try await !TestSite().problem(path).detail.contains("compat"))
    }
}
