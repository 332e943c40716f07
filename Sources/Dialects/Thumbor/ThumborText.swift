import DarkroomNetwork
import DarkroomQuery
import DarkroomRequests
import Foundation

/// A text of imagor's filters `text` and `label`.
struct ThumborText {
    let text: String
    private let values: [String]

    /// `text,x,y,font,color,alpha,blend,width`
    init(text arguments: [String]) {
        let words = Self.words(arguments, 3)
        let size = words.last.flatMap { Int($0) } ?? 20
        self.init(
            arguments, size: "\(size.clamped(to: Text.sizes))", face: words, width: Self.argument(arguments, 7),
            blend: Mark.Blend(rawValue: Self.argument(arguments, 6).lowercased()) ?? .over)
    }

    /// `text,x,y,size,color,alpha,font`
    init(label arguments: [String]) {
        let size = arguments.count > 3 ? ThumborNumber.integer(arguments[3]) : 20
        self.init(
            arguments, size: "h\((size > 0 ? size : 20).clamped(to: Text.sizes))", face: Self.words(arguments, 6),
            width: "")
    }

    private init(
        _ arguments: [String], size: String, face: [String], width: String, blend: Mark.Blend = .over
    ) {
        var text = arguments.first ?? ""
        if text.hasPrefix("b64:") { text = Base64URL.lenientText(of: text.dropFirst(4)) ?? text }
        self.text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let color = Self.argument(arguments, 4)
        var ink = ThumborColor.color(color.isEmpty ? "black" : color)
        let opacity = 1 - ThumborNumber.number(Self.argument(arguments, 5)).clamped(to: 0...100) / 100
        ink.alpha = UInt8((opacity * 255).rounded())
        let values = [
            ThumborPlace(Self.argument(arguments, 1)).text("l", "r"),
            ThumborPlace(Self.argument(arguments, 2)).text("t", "b"), size, ink.hex,
        ]
        let wrapped = Self.width(width)
        let name = Self.face(face)
        let options = [name, wrapped ?? "-", blend.rawValue]
        let count = blend != .over ? 3 : wrapped != nil ? 2 : name != "sans" ? 1 : 0
        self.values = values + options.prefix(count)
    }

    /// The entry of `steps`.
    var step: String { (["text", PercentEncoding.encode(text)] + values).joined(separator: ":") }

    private static func argument(_ arguments: [String], _ index: Int) -> String {
        index < arguments.count ? arguments[index] : ""
    }

    /// The words of a font, which are separated by hyphens or spaces.
    private static func words(_ arguments: [String], _ index: Int) -> [String] {
        argument(arguments, index).lowercased().split { "- +".contains($0) }.map(String.init)
    }

    /// The generic family and the style of a font.
    private static func face(_ words: [String]) -> String {
        let isSans = words.contains { $0.hasPrefix("sans") }
        let family =
            words.contains { $0.hasPrefix("mono") || $0 == "courier" }
            ? "monospace" : words.contains { $0 == "serif" || $0 == "times" } && !isSans ? "serif" : "sans"
        return ([family] + ["bold", "italic"].filter(words.contains)).joined(separator: "-")
    }

    /// Pixels, `60p` or `0.6` for a part of the image, or `full`; nil = lines are not wrapped.
    private static func width(_ text: String) -> String? {
        if text.hasPrefix("f") { return "100p" }
        if text.hasPrefix("0.") {
            let part = Percentage(hundredths: Int((min(ThumborNumber.number(text), 1) * 10_000).rounded()))
            return part.hundredths > 0 ? "\(part)" : nil
        }
        let isPercent = text.hasSuffix("p")
        let number = ThumborNumber.integer(isPercent ? String(text.dropLast()) : text)
        guard number > 0 else { return nil }
        return isPercent ? "\(min(number, 100))p" : "\(min(number, 8192))"
    }
}
