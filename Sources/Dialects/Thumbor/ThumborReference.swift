/// The parts of a path that are not filters.
enum ThumborReference {
    static let parts: [OptionReference] = [
        .init(syntax: "unsafe/", outcome: .parameters("an unsigned request, where those are allowed")),
        .init(
            syntax: "meta/",
            outcome: .parameters("`output=json`: [Darkroom's document](parameters.md#descriptions-and-placeholders)")),
        .init(syntax: "trim[:corner][:tolerance]/", outcome: .parameters("`trim`, `tcorner`")),
        .init(
            syntax: "AxB:CxD/",
            outcome: .parameters("`crop`, in pixels or parts of the source; without the source's last column and row")),
        .init(syntax: "fit-in/", outcome: .parameters("`fit=inside` without enlarging")),
        .init(syntax: "full-fit-in/", outcome: .parameters("`fit=outside&enlarge=true`")),
        .init(syntax: "adaptive-fit-in/", outcome: .parameters("`fit=inside&swap=true`")),
        .init(syntax: "adaptive-full-fit-in/", outcome: .parameters("`fit=outside&enlarge=true&swap=true`")),
        .init(syntax: "stretch/", outcome: .parameters("`fit=fill&enlarge=true`")),
        .init(
            syntax: "WxH/",
            outcome: .parameters("`w`, `h`, with `fit=cover&enlarge=true` unless the path says otherwise; 0 = none")),
        .init(syntax: "origxorig/", outcome: .parameters("nothing: no resize; `orig` beside a number is a 400")),
        .init(syntax: "-Wx-H/", outcome: .parameters("`flop` for the width, `flip` for the height")),
        .init(syntax: "LxT[:RxB]/", outcome: .parameters("the padding of the filter `fill`")),
        .init(syntax: "left|right|center/", outcome: .parameters("`a`")),
        .init(syntax: "top|bottom|middle/", outcome: .parameters("`a`")),
        .init(syntax: "smart/", outcome: .parameters("`a=attention`; faces and features are not detected")),
        .init(
            syntax: "image",
            outcome: .parameters("`url`; percent-encoded or not, or in base64 after `b64:`")),
        .init(
            syntax: "color:name",
            outcome: .parameters("`url=color:///RRGGBBAA` with `fit=fill&enlarge=true`, in JPEG without `format`")),
    ]
}
