import NIOCore
import Testing

@testable import DarkroomHTTPServer

extension FuzzTests {
    @Test func `A form has the same file, or the same flaw, however it is cut`() {
        let head = "Content-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n"
        let seeds = [
            "--b\r\n\(head)bytes\r\n--b--\r\n", "\r\n--b \r\n\(head)\r\n--\r\n--a\r\r\n--b--",
            "preamble\r\n--b\r\n\(head)x\r\n--b\r\n\(head)y\r\n--b--\r\nepilogue", "--b--",
            "--b\r\nA: b\r\nContent-Transfer-Encoding: 8bit\r\n\(head)\r\n\r\n--b--",
        ]
        let words = ["\r\n--b", "--b", "\r", "\r\n\r\n", "Content-Disposition:", "filename=", "\"", ";", "--"]
        fuzzer.run("multipart", seeds: seeds, words: words) { input in
            let whole = Self.file(input, pieces: [input.count])
            for size in [1, 2, 13] {
                let sizes = Array(repeating: size, count: input.count / size + 1)
                try hold(Self.file(input, pieces: sizes) == whole, "pieces of \(size) bytes differ")
            }
            guard case .success(let file) = whole else { return }
            try hold(file.count < input.count, "a file of \(file.count) bytes")
            let delimiter = Array("\r\n--b".utf8)
            let hasDelimiter = file.indices.contains { file[$0...].starts(with: delimiter) }
            try hold(!hasDelimiter, "a delimiter in the file")
        }
    }

    @Test func `A media type has no empty words, and a boundary no line breaks`() {
        let seeds = [
            "multipart/form-data; boundary=\"a b\"", "image/jpeg;q=1", "form-data; name=\"a\\\"b\"; filename*=c",
        ]
        fuzzer.run("media-type", seeds: seeds, words: ["boundary=", "\"", "\\", ";", "/", "="]) { input in
            guard let type = MediaType(String(decoding: input, as: UTF8.self)) else { return }
            try hold(type.name == type.name.lowercased() && !type.name.hasPrefix("/"), type.name)
            try hold(!type.parameters.keys.contains(""), "an empty name")
            guard let boundary = type.parameters["boundary"], MultipartReader(boundary: boundary) != nil else { return }
            try hold(!boundary.contains { $0.isNewline } && boundary.utf8.count <= 70, boundary)
        }
    }

    private static func file(_ form: [UInt8], pieces sizes: [Int]) -> Result<[UInt8], MultipartFlaw> {
        guard var reader = MultipartReader(boundary: "b") else { return .failure(.noFile) }
        var file: [UInt8] = []
        var rest = form[...]
        do throws(MultipartFlaw) {
            for size in sizes {
                for part in try reader.read(ByteBuffer(bytes: rest.prefix(size))) { file += part.readableBytesView }
                rest = rest.dropFirst(size)
            }
            try reader.finish()
            return .success(file)
        } catch {
            return .failure(error)
        }
    }
}
