import DarkroomQuery
import DarkroomTransforms
import Foundation

/// Filters whose arguments need more than a line of code.
extension ThumborDraft {
    /// The output formats by their names in thumbor and imagor. A format that Darkroom does not encode becomes JPEG, as
    /// in an imagor without that encoder; HEIF becomes AVIF.
    private static let formats = [
        "jpeg": "jpg", "jpg": "jpg", "png": "png", "gif": "gif", "webp": "webp", "avif": "avif", "jxl": "jxl",
        "tiff": "tiff", "bmp": "jpg", "jp2": "jpg", "pdf": "jpg", "svg": "jpg", "heif": "avif", "heic": "avif",
    ]

    mutating func setFormat(_ name: String) {
        guard let format = Self.formats[name.lowercased()] else {
            ignored.append(Translation.Ignored(name: "format", reason: "Formats with other names change nothing."))
            return
        }
        self.format = format
    }

    mutating func setExpiry(milliseconds: Double) {
        guard milliseconds.isFinite, milliseconds < 1e15 else { return }
        expires = Date(timeIntervalSince1970: milliseconds / 1000)
    }

    /// A region `AxB:CxD` or a point `XxY`, also with commas and colons in other places.
    mutating func addFocal(_ text: String) {
        let numbers = text.split { "x,:".contains($0) }.map { ThumborNumber.number(String($0)) }
        if numbers.count == 4 {
            let isRelative = numbers[0] < 1 && numbers[1] < 1 && numbers[2] <= 1 && numbers[3] <= 1
            let (across, down) = (numbers[2] - numbers[0], numbers[3] - numbers[1])
            guard across > 0, down > 0 else { return }
            focals.append(
                Focal(
                    x: (numbers[0] + numbers[2]) / 2, y: (numbers[1] + numbers[3]) / 2, area: across * down,
                    isRelative: isRelative))
        } else if numbers.count == 2, numbers[0] >= 0, numbers[1] >= 0 {
            let isRelative = numbers[0] < 1 && numbers[1] < 1
            let half = isRelative ? 0 : 0.5
            focals.append(
                Focal(
                    x: min(numbers[0] + half, 9e6), y: min(numbers[1] + half, 9e6), area: 1, isRelative: isRelative))
        }
    }

    /// Multiplies tones and adds offsets in percent. Two such steps in a row become one step, because imagor does not
    /// clip between them.
    mutating func addTones(factor: Double, _ offsets: [Double]) {
        guard factor != 1 || offsets.contains(where: { $0 != 0 }) else { return }
        var (factor, offsets) = (factor, offsets)
        if let last = steps.last, last.hasPrefix("linear:") {
            let earlier = last.split(separator: ":").dropFirst().map { ThumborNumber.number(String($0)) }
            offsets = zip(offsets, earlier.dropFirst()).map { $0 + factor * $1 }
            factor *= earlier[0]
            steps.removeLast()
        }
        let numbers = [min(factor, 300)] + offsets.map { min(max($0, -30_000), 30_000) }
        steps.append(
            (["linear"] + numbers.map { ThumborNumber.text($0, decimals: 4) }).joined(separator: ":"))
    }

    mutating func addHue(_ degrees: Double) {
        let turned = (Int(degrees.rounded()) % 360 + 360) % 360
        if turned != 0 { steps.append("hue:\(turned)") }
    }

    mutating func addFactor(_ step: String, _ factor: Double) {
        guard factor != 1 else { return }
        steps.append("\(step):\(ThumborNumber.text(min(max(factor, 0), 10), decimals: 4))")
    }

    mutating func addCorners(_ arguments: [String]) {
        guard let first = arguments.first else { return }
        let radii = first.split(separator: "|").map { min(max(ThumborNumber.integer(String($0)), 0), 9999) }
        guard let across = radii.first else { return }
        var down = radii.count > 1 ? radii[1] : across
        var color = ""
        if arguments.count >= 4 {
            let channels = arguments[1...3].map { UInt8(min(max(ThumborNumber.integer($0), 0), 255)) }
            let isTransparent = arguments.count > 4 && ["1", "true"].contains(arguments[4].lowercased())
            if !isTransparent {
                color = ":" + Color(red: channels[0], green: channels[1], blue: channels[2]).hex
            }
        } else if arguments.count > 1 {
            down = min(max(ThumborNumber.integer(arguments[1]), 0), 9999)
            if arguments.count == 3 { color = ":" + ThumborColor.color(arguments[2]).hex }
        }
        guard across > 0, down > 0 else { return }
        steps.append("round:\(across):\(down)\(color)")
    }

    mutating func addWatermark(_ arguments: [String]) throws(InvalidParameter) {
        guard let image = arguments.first else { return }
        guard !steps.contains("mark") else {
            throw InvalidParameter(
                "watermark", "A path may have one filter 'watermark'. See docs/thumbor.md.")
        }
        let alpha = Int(min(max(ThumborNumber.number(arguments.count > 3 ? arguments[3] : nil), 0), 100).rounded())
        guard alpha < 100 else { return }
        let name = image.hasPrefix("b64:") ? Base64URLText.decode(image.dropFirst(4)) ?? image : image
        set("mark", try source.url(name))
        if arguments.count >= 6 {
            for (parameter, ratio) in [("markw", arguments[4]), ("markh", arguments[5])] {
                let percent = ratio == "none" ? 100 : min(max(ThumborNumber.integer(ratio), 1), 100)
                set(parameter, "\(percent)p")
            }
        }
        let across = ThumborPlace(arguments.count > 2 ? arguments[1] : nil)
        let down = ThumborPlace(arguments.count > 2 ? arguments[2] : nil)
        if let anchor = ThumborPlace.anchor(across, down) {
            set("marka", anchor)
            if across.offset != "0" { set("markx", across.offset) }
            if down.offset != "0" { set("marky", down.offset) }
        } else {
            set("marka", "tile")
        }
        if alpha > 0 { set("markalpha", "\(100 - alpha)") }
        steps.append("mark")
    }

    mutating func addText(
        _ arguments: [String], size: String?, color: String?, alpha: String?
    ) throws(InvalidParameter) {
        var text = arguments.first ?? ""
        if text.hasPrefix("b64:") { text = Base64URLText.decode(text.dropFirst(4)) ?? text }
        text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { return }
        guard !steps.contains("text") else {
            throw InvalidParameter("text", "A path may have one filter 'text' or 'label'. See docs/thumbor.md.")
        }
        set("text", text)
        let pixels = size.map { ThumborNumber.integer($0) } ?? 20
        set("textsize", "\(min(max(pixels > 0 ? pixels : 20, Text.sizes.lowerBound), Text.sizes.upperBound))")
        var ink = ThumborColor.color(color ?? "black")
        let opacity = 1 - min(max(ThumborNumber.number(alpha), 0), 100) / 100
        ink.alpha = UInt8((opacity * 255).rounded())
        set("textcolor", ink.hex)
        let (across, down) = (
            ThumborPlace(arguments.count > 1 ? arguments[1] : nil),
            ThumborPlace(arguments.count > 2 ? arguments[2] : nil)
        )
        set("texta", ThumborPlace.anchor(across, down) ?? "center")
        steps.append("text")
    }
}
