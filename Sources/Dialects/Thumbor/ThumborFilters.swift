import DarkroomQuery
import DarkroomRequests
import Foundation

/// Every filter of thumbor and imagor, and what becomes of it.
enum ThumborFilters {
    typealias Row = OptionRow<[String], ThumborDraft>

    static let table = OptionTable(
        output + sizes + canvas + colors + overlays + rest, noun: "Filter")

    private static let output: [Row] = [
        Row("quality", "amount", "`q`; none for 0") { arguments, draft in
            let quality = ThumborNumber.integer(arguments.first)
            if quality > 0 { draft.parameters.set("q", "\(min(quality, 100))") }
        },
        Row(
            "format", "name",
            "`output`, with `bg=black` for JPEG, which `bmp`, `jp2`, `pdf` and `svg` also mean, and AVIF for `heif`; "
                + "nothing for other names"
        ) { arguments, draft in
            draft.setFormat(arguments.first ?? "")
        },
        Row("autojpg", "[enabled]", "`output=jpg&bg=black`") { arguments, draft in
            if arguments.first?.lowercased() != "false" { draft.format = "jpg" }
        },
        Row("max_bytes", "bytes", "`max_bytes`") { arguments, draft in
            let bytes = ThumborNumber.integer(arguments.first)
            if bytes > 0 { draft.parameters.set("max_bytes", "\(min(bytes, 100_000_000))") }
        },
        Row("max_frames", "count", "`n` with `pick=even`") { arguments, draft in
            let frames = ThumborNumber.integer(arguments.first)
            if frames > 0 { draft.frames = min(frames, draft.frames ?? frames) }
        },
        Row("cover", "", "`n=1`") { _, draft in draft.frames = 1 },
        Row("page", "number", "`page=upto:…` with `n=1`, after the first one") { arguments, draft in
            let page = ThumborNumber.integer(arguments.first)
            if page > 0 { draft.page = min(page, 999_999_999) }
        },
        Row("lossless", "", "`ll=true`") { _, draft in draft.parameters.set("ll", "true") },
        Row("palette", "", "`palette=true`") { _, draft in draft.parameters.set("palette", "true") },
        Row("compression", "level", "`l`, from 1 to 9") { arguments, draft in
            draft.parameters.set("l", "\(ThumborNumber.integer(arguments.first).clamped(to: 1...9))")
        },
        Row("bitdepth", "bits", .ignored("A palette has as many bits as its colors need.")),
        Row("fallback_format", "name", .ignored("An animation keeps its frames where the format has frames.")),
        Row("strip_exif", "", .ignored("Results have no EXIF data other than copyright and artist.")),
        Row("strip_icc", "", .ignored("Results have no profile, except in Display P3.")),
        Row("strip_metadata", "", "`metadata=none`") { _, draft in draft.parameters.set("metadata", "none") },
        Row("to_colorspace", "[srgb|p3|cmyk]", "`gamut=p3` for `p3`; CMYK is never written") { arguments, draft in
            if arguments.first == "p3" { draft.parameters.set("gamut", "p3") }
        },
        Row("dpi", "number", .ignored("Vector images are drawn at the size of the result.")),
        Row("preview", "", .ignored("It only selects a cache of imagor's; all results are cached.")),
        Row(
            "attachment", "[filename]",
            "`attachment=true`, and `filename` for a name of letters, digits, `-`, `_` and `.`"
        ) { arguments, draft in
            let name = arguments.first ?? ""
            if name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}/) != nil {
                draft.parameters.set("filename", name)
            }
            draft.parameters.set("attachment", "true")
        },
        Row("expire", "milliseconds", "the time in milliseconds since 1970 when the URL expires") { arguments, draft in
            guard ThumborNumber.number(arguments.first) > 0, let milliseconds = arguments.first.flatMap(Double.init),
                milliseconds < 1e15
            else { return }
            draft.expires = Date(timeIntervalSince1970: milliseconds / 1000)
        },
        Row("max_age", "seconds", "`maxage`, from 1 second to 1 year") { arguments, draft in
            draft.parameters.set("maxage", "\(ThumborNumber.integer(arguments.first).clamped(to: 1...31_536_000))s")
        },
    ]

    private static let sizes: [Row] = [
        Row("upscale", "", "`enlarge=true`") { _, draft in draft.enlarges = true },
        Row("no_upscale", "", "no `enlarge`") { _, draft in draft.enlarges = false },
        Row("stretch", "", "`fit=fill`") { _, draft in draft.isStretched = true },
        Row("focal", "AxB:CxD | XxY", "`a=focal` with `focus` in pixels, or with `fpx` and `fpy`") { arguments, draft in
            draft.addFocal(arguments.joined(separator: ","))
        },
        Row("orient", "degrees", "`orient`, counterclockwise, instead of the orientation of the source") {
            arguments, draft in
            let orientations = [90: "8", 180: "3", 270: "6"]
            let degrees = ThumborNumber.integer(arguments.first)
            if degrees > 0 { draft.parameters.set("orient", orientations[degrees] ?? "none") }
        },
        Row("proportion", "percent", "step `scale`") { arguments, draft in
            var part = min(ThumborNumber.number(arguments.first), 100)
            if part > 1 { part /= 100 }
            let hundredths = Int((part * 10_000).rounded())
            if (1..<10_000).contains(hundredths) { draft.steps.append("scale:\(Percentage(hundredths: hundredths))") }
        },
        Row("crop", "left,top,width,height", "step `cut`") { arguments, draft in
            guard arguments.count >= 4 else { return }
            draft.steps.append((["cut"] + arguments.prefix(4).map(length)).joined(separator: ":"))
        },
        Row("trim", "[tolerance[,corner]]", "step `trim`") { arguments, draft in
            let tolerance = ThumborNumber.integer(arguments.first).clamped(to: 1...254)
            let isOpposite = arguments.count > 1 && arguments[1] == "bottom-right"
            draft.steps.append("trim:\(tolerance)\(isOpposite ? ":bottom-right" : "")")
        },
        Row("rotate", "degrees", "step `ro`; counterclockwise, by 90, 180 or 270") { arguments, draft in
            let degrees = ThumborNumber.integer(arguments.first)
            if [90, 180, 270].contains(degrees) { draft.steps.append("ro:\(360 - degrees)") }
        },
    ]

    /// Pixels, or a part of the image below 1.
    @Sendable private static func length(_ text: String) -> String {
        let number = ThumborNumber.number(text)
        guard number > 0, number < 1 else { return "\(Int(number.clamped(to: 0...1e8)))" }
        return "\(Percentage(hundredths: Int((number * 10_000).rounded())))"
    }

    private static let canvas: [Row] = [
        Row("fill", "color|auto|blur|none", "step `fill`, with the padding of the path") { arguments, draft in
            let space = draft.path.padding
            let color = arguments.first == "blur" ? "blur" : ThumborColor.text(arguments.first ?? "")
            draft.steps.append("fill:\(color):\(space.top):\(space.right):\(space.bottom):\(space.left)")
        },
        Row("background_color", "color|auto", "step `bg`") { arguments, draft in
            guard let color = arguments.first else { return }
            let text = ThumborColor.text(color)
            draft.steps.append("bg:\(text == Color.transparent.hex ? Color.black.hex : text)")
        },
        Row("padding", "color,left[,top[,right,bottom]]", "step `pad`") { arguments, draft in
            guard arguments.count >= 2 else { return }
            let widths = arguments.dropFirst().map { ThumborNumber.integer($0).clamped(to: 0...9999) }
            let top = widths.count > 1 ? widths[1] : widths[0]
            let right = widths.count > 3 ? widths[2] : widths[0]
            let bottom = widths.count > 3 ? widths[3] : top
            let color = arguments[0] == "blur" ? "blur" : ThumborColor.text(arguments[0])
            draft.steps.append("pad:\(color):\(top):\(right):\(bottom):\(widths[0])")
        },
        Row("round_corner", "rx[,ry[,color]] | a|b,r,g,b[,transparent]", "step `round`") { arguments, draft in
            draft.addCorners(arguments)
        },
    ]

    private static let colors: [Row] = [
        Row("blur", "radius[,sigma]", "step `blur`, with half of the radius as sigma") { arguments, draft in
            let sigma =
                arguments.count > 1 ? ThumborNumber.number(arguments[1]) : ThumborNumber.number(arguments.first) / 2
            guard sigma > 0 else { return }
            draft.steps.append("blur:\(sigma.clamped(to: Blur.sigmas).text(decimals: 4))")
        },
        Row("sharpen", "sigma", "step `sharp`, with 1 + 2 · sigma, or 0.5 where that exceeds 10") { arguments, draft in
            let sigma = 1 + 2 * ThumborNumber.number(arguments.count > 1 ? arguments[1] : arguments.first)
            guard sigma > 0 else { return }
            // libvips ignores a value out of range and takes its default.
            draft.steps.append("sharp:\((sigma > 10 ? 0.5 : max(sigma, 0.0001)).text(decimals: 4)):0:2")
        },
        Row("brightness", "percent", "step `linear`") { arguments, draft in
            let percent = ThumborNumber.number(arguments.first)
            draft.addTones(factor: 1, [percent, percent, percent])
        },
        Row("contrast", "percent", "step `linear`, on the line of imagor") { arguments, draft in
            let level = (ThumborNumber.number(arguments.first) * 2.55).clamped(to: -255...255)
            let factor = 259 * (level + 255) / (255 * (259 - level))
            let offset = (128 - factor * 128) / 2.55
            draft.addTones(factor: factor, [offset, offset, offset])
        },
        Row("rgb", "red,green,blue", "step `linear`") { arguments, draft in
            guard arguments.count == 3 else { return }
            draft.addTones(factor: 1, arguments.map { ThumborNumber.number($0) })
        },
        Row("hue", "degrees", "step `hue`") { arguments, draft in
            draft.addHue(ThumborNumber.number(arguments.first))
        },
        Row("saturation", "percent", "step `sat`") { arguments, draft in
            draft.addFactor("sat", 1 + ThumborNumber.number(arguments.first) / 100)
        },
        Row("modulate", "brightness,saturation,hue", "step `mod`") { arguments, draft in
            guard arguments.count == 3 else { return }
            draft.addModulation(arguments.map { ThumborNumber.number($0) })
        },
        Row("grayscale", "", "step `filt:greyscale`") { _, draft in draft.steps.append("filt:greyscale") },
        Row("invert", "", "step `filt:negate`") { _, draft in draft.steps.append("filt:negate") },
        Row("pixelate", "[block]", "step `pixelate`") { arguments, draft in
            let block = ThumborNumber.integer(arguments.first)
            let side = block > 0 ? block : 10
            if side > 1 { draft.steps.append("pixelate:\(min(side, 1000))") }
        },
    ]

    private static let overlays: [Row] = [
        Row(
            "watermark", "image,x,y,alpha[,w_ratio[,h_ratio]]",
            "`mark`, and `mark.2`, `mark.3`, … for other images, with step `mark`; animations play along; "
                + "a ratio alone is of the width"
        ) { arguments, draft throws(InvalidParameter) in try draft.addWatermark(arguments) },
        Row(
            "text", "text,x,y[,font[,color[,alpha[,blend[,width[,…]]]]]]",
            "step `text`, with the generic family, weight and size of the font; the blend modes `add`, `mask` and "
                + "`mask-out` mean `normal`"
        ) { arguments, draft throws(InvalidParameter) in try draft.addText(ThumborText(text: arguments)) },
        Row(
            "label", "text,x,y,size,color[,alpha[,font]]", "step `text`, with letters of this height"
        ) { arguments, draft throws(InvalidParameter) in try draft.addText(ThumborText(label: arguments)) },
        Row(
            "image", "path,x,y[,alpha[,mode]]",
            "`mark` with step `mark`, as `watermark`; the path may have a size with `fit-in` or `stretch`, and `f` for "
                + "a side of the image, and the mode may not be `add`, `mask` or `mask-out`"
        ) { arguments, draft throws(InvalidParameter) in try draft.addImage(arguments) },
        Row("avgcolor", "", "`fields=color` of `/meta`") { _, draft in draft.details.insert("color") },
        Row("blurhash", "x,y", "`fields=blurhash` of `/meta`") { _, draft in draft.details.insert("blurhash") },
        Row("thumbhash", "", "`fields=thumbhash` of `/meta`") { _, draft in draft.details.insert("thumbhash") },
    ]

    /// A filter that hides faces, always as rectangles, and always so strongly that they cannot be made out.
    private static func redaction(_ name: String) -> Row {
        Row(name, "[mode[,strength]]", "`redact=face`, with the mode `pixelate` or a color as its style") {
            arguments, draft throws(InvalidParameter) in
            let mode = arguments.first?.lowercased() ?? ""
            switch mode {
            case "", "blur": draft.parameters.set("redact", "face")
            case "pixelate": draft.parameters.set("redact", "face:pixelate")
            default:
                guard let color = Color(parsing: mode) else {
                    throw InvalidParameter(name, "Filter '\(name)' must have the mode blur, pixelate or a color.")
                }
                draft.parameters.set("redact", "face:\(color.opaque.hex)")
            }
        }
    }

    private static let rest: [Row] = [
        Row("draw_detections", "", .ignored("No boxes are drawn around faces.")),
        Row("extract_focal", "", .ignored("Focal points are given with 'focal'.")),
        redaction("redact"), redaction("redact_oval"),
        Row("raw", "", .refused("Originals are never passed on unchanged.")),
        Row("convolution", "…", .refused("There is no such effect.")),
        Row("curve", "…", .refused("There is no such effect; use 'brightness' and 'contrast'.")),
        Row("colorize", "…", .refused("There is no such effect; use 'rgb'.")),
        Row("distributed_collage", "…", .refused("An image has one source.")),
        Row("equalize", "", .refused("There is no such effect; use 'contrast'.")),
        Row("frame", "image", .refused("There is no such effect; use 'watermark'.")),
        Row("gifv", "[format]", .refused("There are no videos; use 'format(webp)'.")),
        Row("noise", "amount", .refused("There is no such effect.")),
        Row("red_eye", "", .refused("No eyes are detected.")),
    ]
}
