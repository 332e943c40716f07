import DarkroomRequests
import DarkroomTransforms

/// Every step that a parameter can ask for, with the values that take the most. Names are as in queries.
enum Steps {
    struct Step {
        var name: String
        var change: (inout Recipe) -> Void

        init(_ name: String, _ change: @escaping (inout Recipe) -> Void) {
            self.name = name
            self.change = change
        }
    }

    static func named(_ name: String) -> Step? { all.first { $0.name == name } }

    static var all: [Step] { sizes + geometry + colors + effects + composition + lists }

    private static var sizes: [Step] {
        [
            Step("resample=accurate") { $0.resampling = .accurate },
            Step("resample=linear") { $0.resampling = .linear },
            Step("fit=cover") { square(&$0, .cover) },
            Step("fit=cover&a=entropy") {
                square(&$0, .cover)
                $0.position = .entropy
            },
            Step("fit=cover&a=attention") {
                square(&$0, .cover)
                $0.position = .attention
            },
            Step("fit=contain") { square(&$0, .contain) },
            Step("fit=contain&bg=blur") {
                square(&$0, .contain)
                $0.blursBackdrop = true
            },
            Step("fit=fill") { square(&$0, .fill) },
            Step("enlarge") { $0.enlarge = true },
            Step("rules=wsrv") { $0.rules = .wsrv },
        ]
    }

    /// Makes the box a square of its width.
    private static func square(_ recipe: inout Recipe, _ fit: Fit) {
        guard let width = recipe.box.horizontal else { return }
        recipe.box = Box(horizontal: width, vertical: width)
        recipe.fit = fit
    }

    private static var geometry: [Step] {
        let tenth = Length.percent(10)
        let most = Length.percent(80)
        return [
            Step("orient=6") { $0.orientation = .exif(6) },
            Step("crop=10p,10p,80p,80p") { $0.crop = Crop(x: tenth, y: tenth, width: most, height: most) },
            Step("trim=10") { $0.trim = Trim(threshold: 10) },
            Step("trim=200") { $0.trim = Trim(threshold: 200) },
            Step("ro=90") { $0.rotationDegrees = 90 },
            Step("ro=30") { $0.rotationDegrees = 30 },
            Step("ro=45&rbg=red") {
                $0.rotationDegrees = 45
                $0.cornerBackground = red
            },
            Step("flip") { $0.flip = true },
            Step("flop") { $0.flop = true },
            Step("cut=10p,10p,80p,80p") { $0.cut = Crop(x: tenth, y: tenth, width: most, height: most) },
        ]
    }

    private static var colors: [Step] {
        Filter.allCases.map { filter in Step("filt=\(filter.rawValue)") { $0.filter = filter } } + [
            Step("bg=red") { $0.background = red },
            Step("bri=25") { $0.brightness = Brightness(percent: 25) },
            Step("mod=1.5") { $0.lightness = Lightness(factor: 1.5) },
            Step("con=40") { $0.contrast = Contrast(percent: 40) },
            Step("sat=2") { $0.saturation = Saturation(factor: 2) },
            Step("hue=120") { $0.hue = Hue(degrees: 120) },
            Step("gam=2") { $0.gamma = Gamma(exponent: 2) },
            Step("tint=red") { $0.tint = Tint(red) },
            Step("duotone=black,red") {
                $0.duotone = Duotone(shadow: Color(red: 0, green: 0, blue: 0), highlight: red)
            },
        ]
    }

    private static var effects: [Step] {
        blurs + [
            Step("blur") { $0.blur = Blur() },
            Step("sharp") { $0.sharpen = Sharpen() },
            Step("sharp=1") { $0.sharpen = Sharpen(sigma: 1) },
            Step("sharp=10") { $0.sharpen = Sharpen(sigma: 10) },
            Step("pixelate=10") { $0.pixelate = Pixelate(block: .pixels(10)) },
            Step("pixelate=50p") { $0.pixelate = Pixelate(block: .percent(50)) },
        ]
    }

    private static var blurs: [Step] {
        [0.3, 1, 4, 7.9, 8, 50, 1000].map { (sigma: Double) in
            Step("blur=\(sigma)") { $0.blur = Blur(sigma: sigma) }
        }
    }

    private static var composition: [Step] {
        [
            Step("text=Hello") { $0.text = Text("Hello", size: 14) },
            Step("text of many lines") { $0.text = Text(lines, size: 10) },
            Step("text of one large letter") { $0.text = Text("A", size: 30) },
            Step("border=8") { $0.border = BorderStyle(width: 8, color: red) },
            Step("radius=20") { $0.radius = CornerRadii(.pixels(20)) },
            Step("mask=circle") { $0.mask = .circle },
            Step("mask=star&mbg=red") {
                $0.mask = .star
                $0.maskBackground = red
            },
            Step("mask=heart&mtrim") {
                $0.mask = .heart
                $0.trimsMask = true
            },
            Step("pad=20") { $0.padding = Padding(20) },
            Step("pad=200") { $0.padding = Padding(200) },
            Step("mark&markw=25p") { $0.mark = Mark(width: .percent(25)) },
            Step("mark&markw=100p") { $0.mark = Mark(width: .percent(100)) },
            Step("mark&marka=tile") { $0.mark = Mark(width: .pixels(20), anchor: nil, opacity: 50) },
            Step("mark&markblend=multiply") { $0.mark = Mark(width: .percent(100), blend: .multiply) },
        ]
    }

    /// Lists as long as they may be.
    private static var lists: [Step] {
        let colors: [EffectStep] = [
            .brightness(Brightness(percent: 5)), .contrast(Contrast(percent: 5)), .gamma(Gamma(exponent: 1.1)),
            .linear(LinearTones(factor: 1.1, red: 0, green: 1, blue: -1)),
        ]
        let tones: [EffectStep] = [.hue(Hue(degrees: 5)), .saturation(Saturation(factor: 1.1)), .filter(.sepia)]
        return [
            list("trim", [.trim(Trim(threshold: 10))]),
            list("ro:90,scale:99p", [.rotate(degrees: 90), .scale(Scale(99))]),
            list("blur:1", [.blur(Blur(sigma: 1))]), list("sharp:1", [.sharpen(Sharpen(sigma: 1))]),
            list("bri,con,gam,linear", colors), list("hue,sat,filt", tones),
            list("flip,flop,ro:180", [.flip, .flop, .rotate(degrees: 180)]),
            list("pixelate:9", [.pixelate(Pixelate(block: .pixels(9)))]),
            list("round:20", [.round(RoundCorners(across: 20, down: 20))]),
            list("pad:auto:1:1:1:1", [.pad(CanvasFill(.color(.average), padding: Padding(1)))]),
            list("fill:blur", [.canvas(CanvasFill(.blur, padding: Padding(1)))]),
        ]
    }

    private static func list(_ name: String, _ steps: [EffectStep]) -> Step {
        let times = min(EffectStep.maxRepetitions, EffectStep.maxCount / steps.count)
        return Step("steps of \(times) × \(name)") {
            $0.steps = Array(repeating: steps, count: times).flatMap(\.self)
        }
    }

    private static let red = Color(red: 255, green: 0, blue: 0)
    /// 200 characters.
    private static let lines = String(repeating: "many words ", count: 18) + "ab"
}
