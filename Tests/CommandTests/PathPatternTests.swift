import Testing

@testable import DarkroomCommand

@Suite struct PathPatternTests {
    /// Whether a pattern matches a path below its base.
    private func matches(_ pattern: String, _ path: String) throws -> Bool {
        try #require(PathPattern(pattern)).matches(path.split(separator: "/").map(String.init))
    }

    @Test(arguments: [
        ("photos/*.jpg", "photos"), ("photos/2024/**/*.jpg", "photos/2024"), ("*.jpg", ""), ("/a/b/?.png", "/a/b"),
        ("/*.png", "/"), ("./*.png", "."), ("../x/*", "../x"), ("photos//*.jpg", "photos"), ("**", ""),
    ])
    func `The base is the folder in front of the first wildcard`(pattern: String, base: String) throws {
        #expect(try #require(PathPattern(pattern)).base == base)
    }

    @Test func `A path without wildcards is no pattern`() {
        #expect(PathPattern("photos/a.jpg") == nil)
        #expect(PathPattern("photos/a[1].jpg") == nil)
        #expect(PathPattern("") == nil)
    }

    @Test(arguments: [
        ("*.jpg", "a.jpg", true), ("*.jpg", "A.JPG", true), ("*.jpg", "a.png", false), ("*.jpg", "b/a.jpg", false),
        ("p/?.jpg", "a.jpg", true), ("p/?.jpg", "ab.jpg", false), ("**/*.jpg", "a.jpg", true),
        ("**/*.jpg", "b/c/a.jpg", true), ("**/*.jpg", "b/c/a.png", false), ("**", "a", true), ("**", "b/c/a", true),
        ("p/**", "b/a.jpg", true), ("*/a.jpg", "b/a.jpg", true), ("*/a.jpg", "a.jpg", false),
        ("*/a.jpg", "b/c/a.jpg", false), ("**/raw/*.jpg", "raw/a.jpg", true), ("**/raw/*.jpg", "x/raw/y/a.jpg", false),
        ("**/raw/**/*.jpg", "x/raw/y/z/a.jpg", true), ("**/**/a.jpg", "a.jpg", true),
        ("2024-*/**/x?.jpg", "2024-1/x1.jpg", true),
    ])
    func `Stars match within names, and two of them match folders`(pattern: String, path: String, isMatch: Bool) throws
    {
        #expect(try matches(pattern, path) == isMatch, "\(pattern) \(path)")
    }

    @Test func `Folders in which nothing can match are not entered`() throws {
        let flat = try #require(PathPattern("photos/2024-*/*.jpg"))
        #expect(flat.descends(1) && !flat.descends(2))
        #expect(try #require(PathPattern("photos/**/*.jpg")).descends(9))
    }
}
