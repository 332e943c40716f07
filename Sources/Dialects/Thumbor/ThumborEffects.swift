import DarkroomQuery
import DarkroomRequests

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

    /// A region `AxB:CxD` or a point `XxY`, also with commas and colons in other places.
    mutating func addFocal(_ text: String) {
        let numbers = text.split { "x,:".contains($0) }.map { ThumborNumber.number(String($0)) }
        if numbers.count == 4 {
            let isRelative = numbers[0] < 1 && numbers[1] < 1 && numbers[2] <= 1 && numbers[3] <= 1
            let (across, down) = (numbers[2] - numbers[0], numbers[3] - numbers[1])
            // The area of a tiny region rounds to 0, and has no center then.
            guard across > 0, down > 0, across * down > 0 else { return }
            let (x, y) = ((numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2)
            focals.append((x, y, across * down, isRelative))
        } else if numbers.count == 2, numbers[0] >= 0, numbers[1] >= 0 {
            let isRelative = numbers[0] < 1 && numbers[1] < 1
            let half = isRelative ? 0 : 0.5
            let (x, y) = (min(numbers[0] + half, 9e6), min(numbers[1] + half, 9e6))
            focals.append((x, y, 1, isRelative))
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
        let numbers = [min(factor, 300)] + offsets.map { $0.clamped(to: -30_000...30_000) }
        steps.append(
            (["linear"] + numbers.map { $0.text(decimals: 4) }).joined(separator: ":"))
    }

    mutating func addHue(_ degrees: Double) {
        let turned = (Int(degrees.rounded()) % 360 + 360) % 360
        if turned != 0 { steps.append("hue:\(turned)") }
    }

    mutating func addFactor(_ step: String, _ factor: Double) {
        guard factor != 1 else { return }
        steps.append("\(step):\(factor.clamped(to: 0...10).text(decimals: 4))")
    }

    mutating func addCorners(_ arguments: [String]) {
        guard let first = arguments.first else { return }
        let radii = first.split(separator: "|").map { ThumborNumber.integer(String($0)).clamped(to: 0...9999) }
        guard let across = radii.first else { return }
        var down = radii.count > 1 ? radii[1] : across
        var color = ""
        if arguments.count >= 4 {
            let channels = arguments[1...3].map { UInt8(ThumborNumber.integer($0).clamped(to: 0...255)) }
            if arguments.count < 5 || !["1", "true"].contains(arguments[4].lowercased()) {
                color = ":" + Color(red: channels[0], green: channels[1], blue: channels[2]).hex
            }
        } else if arguments.count > 1 {
            down = ThumborNumber.integer(arguments[1]).clamped(to: 0...9999)
            if arguments.count == 3 { color = ":" + ThumborColor.color(arguments[2]).hex }
        }
        guard across > 0, down > 0 else { return }
        steps.append("round:\(across):\(down)\(color)")
    }

    mutating func addModulation(_ percents: [Double]) {
        let factors = percents.prefix(2).map { (1 + $0 / 100).clamped(to: 0...10).text(decimals: 4) }
        let step = (["mod"] + factors + ["\((Int(percents[2].rounded()) % 360 + 360) % 360)"]).joined(separator: ":")
        if step != "mod:1:1:0" { steps.append(step) }
    }

    mutating func addWatermark(_ arguments: [String]) throws(InvalidParameter) {
        guard let image = arguments.first else { return }
        let name = image.hasPrefix("b64:") ? Base64URL.lenientText(of: image.dropFirst(4)) ?? image : image
        let url = try source.url(name)
        var drawing = ThumborDrawing(url: url, arguments)
        let sides = arguments.dropFirst(4).prefix(2).map { ratio in
            ratio == "none" ? "100p" : "\(ThumborNumber.integer(ratio).clamped(to: 1...100))p"
        }
        if let width = sides.first, sides.count > 1 || arguments[4] != "none" {
            (drawing.width, drawing.height) = (width, sides.count > 1 ? sides[1] : "-")
        }
        add(drawing)
    }

    mutating func addImage(_ arguments: [String]) throws(InvalidParameter) {
        guard !arguments.isEmpty else { return }
        add(try ThumborDrawing(image: arguments, source))
    }

    private mutating func add(_ drawing: ThumborDrawing) {
        guard drawing.opacity > 0 else { return }
        let index = drawn.firstIndex(of: drawing.url) ?? drawn.count
        let name = index == 0 ? nil : "\(index + 1)"
        if index == drawn.count {
            drawn.append(drawing.url)
            parameters.append(name.map { "mark.\($0)" } ?? "mark", drawing.url)
        }
        steps.append(drawing.step(ofImage: name))
    }

    mutating func addText(_ text: ThumborText) throws(InvalidParameter) {
        guard !text.text.isEmpty else { return }
        try require(
            Text.isValid(text.text), "text",
            "The text of a filter must have at most \(Text.lengths.upperBound) characters, without control characters "
                + "but line feeds.")
        steps.append(text.step)
    }
}
