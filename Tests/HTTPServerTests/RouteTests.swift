import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomHTTPServer

extension RouteTable {
    /// A table of paths alone.
    fileprivate init(paths: [String]) { self.init(paths.map { Route($0) { _, _ in .item() } }) }
}

struct RouteTests {
    private let table = RouteTable(paths: ["/", "/item", "/jobs/{id}", "/jobs/{id}/events", "/signed/{s}/{q}"])

    @Test(arguments: [
        ("/", "/"), ("/item", "/item"), ("/jobs/7", "/jobs/{id}"), ("/jobs/{id}", "/jobs/{id}"),
        ("/jobs/7/events", "/jobs/{id}/events"), ("/signed/a/b", "/signed/{s}/{q}"),
    ])
    func `A path matches a route segment by segment`(path: String, route: String) {
        #expect(table.place(of: path)?.path == route)
    }

    @Test(arguments: [
        "/Item", "/item/7", "/jobs", "/jobs/", "/jobs/7/event", "/signed/a", "//signed//a/", "/signed/a/b/c",
    ])
    func `A missing or extra segment matches no route`(path: String) {
        #expect(table.place(of: path)?.path == nil)
    }

    @Test(arguments: [
        ("", "/"), ("//", "/"), ("//item", "/item"), ("/item/", "/item"), ("///item//", "/item"),
        ("/jobs/7/", "/jobs/{id}"), ("/jobs//events", "/jobs/{id}"), ("//signed/a/b", "/signed/{s}/{q}"),
        ("/signed//a//b", "/signed/{s}/{q}"),
    ])
    func `Empty segments do not count`(path: String, route: String) {
        #expect(table.place(of: path)?.path == route)
    }

    @Test(arguments: ["//ok", "/ok/", "//ok//"])
    func `A listener ignores empty segments`(path: String) async throws {
        let listener = ListenerConfiguration.test()
        #expect(try await listener.respond(path).status == .ok)
        #expect(try await listener.respond(path, method: .delete).status == .methodNotAllowed)
    }

    @Test func `Routes of one path share their methods`() {
        let routes = [
            Route("/cache", [.delete]) { _, _ in .json(["a"]) }, Route("/cache") { _, _ in .json(["b"]) },
        ]
        #expect(RouteTable(routes).place(of: "/cache")?.methods == [.delete, .get, .head])
        #expect(RouteTable(routes).place(of: "/none") == nil)
    }

    @Test func `Two stars match the rest of a path that no other route begins`() {
        let table = RouteTable(paths: ["/item", "/jobs/{id}", "/{signature}/**", "/cdn/image/**"])
        for path in ["/a/b", "/a/b/c//d", "//a/b"] { #expect(table.place(of: path)?.path == "/{signature}/**") }
        for path in ["/a", "/a/", "/item/b", "/jobs/7/8", "//b", "/cdn/other/b"] {
            #expect(table.place(of: path)?.path == nil)
        }
        #expect(table.place(of: "/cdn/image/w=5/b")?.path == "/cdn/image/**")
        #expect(table.place(of: "/jobs/7")?.path == "/jobs/{id}")
    }

    @Test func `A path in braces matches nothing that another route begins`() {
        let table = RouteTable(paths: ["/item", "/{a}/{b}"])
        #expect(table.place(of: "/other/b")?.path == "/{a}/{b}")
        #expect(table.place(of: "/item/b") == nil)
    }

    @Test func `The log has the rest of no path`() {
        let table = RouteTable(paths: ["/{signature}/**", "/cdn/image/**", "/jobs/{id}"])
        func logged(_ path: String) -> String? { table.place(of: path)?.logged(path) }
        #expect(logged("/sig/plain/https://a.org?token") == "/…")
        #expect(logged("/cdn/image/w=5/b") == "/cdn/image/…")
        #expect(logged("/jobs/7") == "/jobs/7")
    }
}
