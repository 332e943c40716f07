import DarkroomQuery
import DarkroomRequests

extension ImgproxyTable {
    static let geometryRows: [Row] = [
        .parameter("crop", "c", as: "`layout=crop:W:H:GRAVITY`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 5)
            let width = try arguments.length(arguments.texts[0])
            let height = arguments.texts.count > 1 ? try arguments.length(arguments.texts[1]) : 0
            var window = Layout.Window(width: width, height: height)
            if arguments.texts.count > 2 { window.gravity = try arguments.gravity(from: 2, allowsSmart: true) }
            draft.layout.crop = width == 0 && height == 0 ? nil : window
        },
        .refused("crop_aspect_ratio", "crop_ar", "car", because: "Give the crop in pixels or shares."),
        .refused(
            "crop_objects", because: "Objects are not detected; `gravity:obj:face` and `gravity:sm` are the nearest."),
        .parameter("trim", "t", as: "`trim`, `tbg`, `layout=even:xy`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 4)
            draft.trim = nil
            if let text = arguments[0] { draft.trim = try arguments.number(text, in: 0...1000, "a threshold from 0") }
            draft.trimColor = nil
            if let text = arguments[1] { draft.trimColor = try arguments.color(text) }
            if let text = arguments[2] { draft.layout.trimsEvenlyAcross = arguments.flag(text) }
            if let text = arguments[3] { draft.layout.trimsEvenlyDown = arguments.flag(text) }
        },
        .parameter("padding", "pd", as: "`pad`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 4)
            func side(_ place: Int, _ other: Int) throws(InvalidParameter) -> Int {
                guard let text = arguments[place] else { return other }
                return try arguments.integer(text, in: 0...9999, "a number of pixels up to 9999")
            }
            var padding = draft.padding
            padding.top = try side(0, padding.top)
            padding.right = try side(1, padding.top)
            padding.bottom = try side(2, padding.top)
            padding.left = try side(3, padding.right)
            draft.padding = padding
        },
        .single("auto_rotate", "ar", as: "`orient=none` if false", \.isUpright, ImgproxyArguments.flag),
        .parameter("rotate", "rot", as: "`ro`") { arguments, draft throws(InvalidParameter) in
            let text = try arguments.single()
            let angle = try arguments.integer(text, in: -1_000_000...1_000_000, "an angle in degrees")
            guard angle.isMultiple(of: 90) else { throw arguments.error(text, isNot: "a multiple of 90") }
            draft.rotation = angle
        },
        .parameter("flip", "fl", as: "`flop` and `flip`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 2)
            if let text = arguments[0] { draft.flops = arguments.flag(text) }
            if let text = arguments[1] { draft.flips = arguments.flag(text) }
        },
    ]

    static let colorRows: [Row] = [
        .parameter("background", "bg", as: "`bg`") { arguments, draft throws(InvalidParameter) in
            switch arguments.texts.count {
            case 1:
                draft.background = try arguments[0].map { text throws(InvalidParameter) in try arguments.color(text) }
            case 3:
                var samples: [UInt8] = []
                for text in arguments.texts {
                    samples.append(UInt8(try arguments.integer(text, in: 0...255, "a number from 0 to 255")))
                }
                draft.background = Color(red: samples[0], green: samples[1], blue: samples[2])
            default: throw arguments.error("must be a color in hexadecimal, or red, green and blue")
            }
        },
        .parameter("background_alpha", "bga", pro: true, as: "the alpha of `bg`") {
            arguments, draft throws(InvalidParameter) in
            draft.backgroundAlpha = try arguments.number(arguments.single(), in: 0...1, "a number from 0 to 1")
        },
        .parameter("adjust", "a", pro: true, as: "`bri`, `con`, `sat`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 3)
            if let text = arguments[0] { draft.brightness = try arguments.brightness(text) }
            if let text = arguments[1] { draft.contrast = try arguments.slope(text) }
            if let text = arguments[2] { draft.saturation = try arguments.slope(text) }
        },
        .single("brightness", "br", pro: true, as: "`bri`", \.brightness, ImgproxyArguments.brightness),
        .single(
            "contrast", "co", pro: true, as: "`con`, along a curve instead of a line", \.contrast,
            ImgproxyArguments.slope),
        .single("saturation", "sa", pro: true, as: "`sat`", \.saturation, ImgproxyArguments.slope),
        .refused("monochrome", "mc", because: "See `filt=greyscale` and `tint`."),
        .parameter("duotone", "dt", pro: true, as: "`duotone`, at intensity 1") {
            arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 3)
            let intensity = try arguments.number(arguments.texts[0], in: 0...1, "an intensity from 0 to 1")
            guard intensity > 0 else {
                draft.duotone = nil
                return
            }
            guard intensity == 1 else { throw arguments.error("must have the intensity 0 or 1") }
            let shadow = try arguments[1].map { text throws(InvalidParameter) in try arguments.color(text) }
            let highlight = try arguments[2].map { text throws(InvalidParameter) in try arguments.color(text) }
            draft.duotone = (shadow ?? .black, highlight ?? .white)
        },
        .parameter("blur", "bl", as: "`blur`") { arguments, draft throws(InvalidParameter) in
            draft.blur = try arguments.number(arguments.single(), in: 0...1e6, "a positive number, or 0")
        },
        .parameter("sharpen", "sh", as: "`sharp`") { arguments, draft throws(InvalidParameter) in
            draft.sharpening = try arguments.number(arguments.single(), in: 0...1e6, "a positive number, or 0")
        },
        .parameter("pixelate", "pix", as: "`pixelate`") { arguments, draft throws(InvalidParameter) in
            draft.pixelSize = try arguments.integer(arguments.single(), "a number of pixels, or 0")
        },
        .refused("unsharp_masking", "ush", because: "See `sharpen`."),
        .refused("blur_areas", "ba", because: "Only whole images are blurred."),
        .refused("progressive_blur", "pbl", because: "Only whole images are blurred."),
        .parameter("blur_detections", "bd", as: "`redact=face` for `S:face`") {
            arguments, draft throws(InvalidParameter) in
            let sigma = try arguments.number(arguments[0] ?? "0", in: 0...1e6, "a sigma from 0")
            guard sigma == 0 || arguments.texts.dropFirst().elementsEqual(["face"]) else {
                throw arguments.error("finds only faces, as in bd:10:face")
            }
            draft.hidesFaces = sigma > 0
        },
        .refused("draw_detections", "dd", because: "No boxes are drawn around faces."),
        .refused("colorize", "col", because: "See `tint`."),
        .refused("gradient", "gr", because: "No gradient is drawn."),
    ]
}

extension ImgproxyArguments {
    fileprivate func length(_ text: Substring) throws(InvalidParameter) -> Double {
        try number(text, in: Layout.lengths, "a number of pixels, or a share below 1")
    }

    fileprivate func brightness(_ text: Substring) throws(InvalidParameter) -> Int {
        try integer(text, in: -255...255, "an integer from -255 to 255")
    }

    fileprivate func slope(_ text: Substring) throws(InvalidParameter) -> Double {
        try number(text, in: 0...1000, "a positive number")
    }
}
