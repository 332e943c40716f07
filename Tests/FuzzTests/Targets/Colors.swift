import NIOCore
import Testing

@testable import DarkroomTransforms

extension FuzzTests {
    @Test func `Every stated color space converts light to light`() {
        let words = [
            "cICP", "cLLI", "mDCV", "clli", "gAMA", "cHRM", "sRGB", "\0\0\0\u{4}cICP\u{9}\u{10}\0\u{1}", "cicp", "rTRC",
            "rXYZ", "nclx",
        ]
        let seeds =
            Pictures.whole(named: ["png", "avif", "heic"]).filter { $0.count <= Mutator.maxBytes }
            + [[12, 13, 0, 1], [0, 0, 177, 143] + Array(repeating: 100, count: 32)]
        fuzzer.run("colors", bytes: seeds, words: words) { input in
            let file = ByteBuffer(bytes: input)
            var codes: [ColorCode?] = [PNGContainer.color(of: file)?.code]
            codes.append(HEIFContainer(of: file)?.color.map { .codePoints(CodePoints($0)) })
            // The same numbers as a field, which no chunk has bounded.
            let numbers = input.prefix(36).enumerated().reduce(into: Array(repeating: 0, count: 9)) { sums, byte in
                sums[byte.offset / 4] = sums[byte.offset / 4] << 8 | Int(byte.element)
            }
            codes.append(ColorCode(fields: numbers))
            codes.append(ColorCode(fields: Array(numbers.prefix(1))))
            codes.append(ColorCode(fields: input.prefix(4).map(Int.init)))
            codes.append(ColorCode(fields: input.prefix(5).map { Int($0) << 6 }))
            let stated = codes.compactMap { $0?.space }
            for space in stated + [ICCProfile(bytes: file).spaceOfHDR].compactMap(\.self) {
                for matrix in [space.matrix(to: .bt709), space.matrix(to: .bt2020)].compactMap(\.self) {
                    try hold(matrix.rows.joined().allSatisfy(\.isFinite), "\(matrix)")
                }
                for sample in [0, 0.25, 1] {
                    let light = space.curve.light(sample)
                    try hold(light >= 0 && light.isFinite, "\(light) of \(sample)")
                    try hold(light * space.toneMapping.gain(light) < 1.000_001, "\(light)")
                }
            }
        }
    }
}
