import DarkroomQuery
import DarkroomRequests

extension ImgproxyTable {
    static let sizeRows: [Row] = [
        .parameter("resize", "rs", as: "`w`, `h`, `enlarge`, `layout`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 8)
            if let text = arguments[0] { draft.layout.sizing = try arguments.sizing(text) }
            try arguments.dropping(1).readSize(into: &draft)
        },
        .parameter("size", "s", as: "`w`, `h`, `enlarge`, `layout=extend:…`") {
            arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 7)
            try arguments.readSize(into: &draft)
        },
        .single(
            "resizing_type", "rt", as: "`layout=fill`, `fill-down`, `force`, `auto`", \.layout.sizing,
            ImgproxyArguments.sizing),
        .refused("resizing_algorithm", "ra", because: "Darkroom chooses the kernel; see `resample`."),
        .single("width", "w", as: "`w`", \.width, ImgproxyArguments.side),
        .single("height", "h", as: "`h`", \.height, ImgproxyArguments.side),
        .single("min-width", "mw", as: "`min-w`", \.minWidth, ImgproxyArguments.side),
        .single("min-height", "mh", as: "`min-h`", \.minHeight, ImgproxyArguments.side),
        .parameter("zoom", "z", as: "`layout=zoom:X:Y`") { arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 2)
            let x = try arguments.factor(arguments.texts[0])
            let y = arguments.texts.count > 1 ? try arguments.factor(arguments.texts[1]) : x
            draft.layout.zoom = Layout.Scale(x: x, y: y)
        },
        .single("dpr", as: "`layout=dpr:NUMBER`", \.layout.pixelRatio, ImgproxyArguments.factor),
        .single("enlarge", "el", as: "`enlarge`", \.enlarges, ImgproxyArguments.flag),
        .parameter("extend", "ex", as: "`layout=extend:GRAVITY`") { arguments, draft throws(InvalidParameter) in
            try arguments.readExtend(into: &draft)
        },
        .parameter("extend_aspect_ratio", "extend_ar", "exar", as: "`layout=extendar:GRAVITY`") {
            arguments, draft throws(InvalidParameter) in
            try arguments.require(atMost: 4)
            if arguments.texts.count > 1 {
                draft.extendRatioGravity = try arguments.gravity(from: 1, allowsSmart: false)
            }
            draft.isRatioExtended = arguments.flag(arguments.texts[0])
        },
        .parameter("gravity", "g", as: "`layout=gravity:GRAVITY`") { arguments, draft throws(InvalidParameter) in
            draft.layout.gravity = try arguments.gravity(from: 0, allowsSmart: true)
        },
        .refused(
            "objects_position", "obj_pos", "op", because: "Objects are not detected; `gravity:sm` is the nearest."),
    ]
}

extension ImgproxyArguments {
    /// `width:height:enlarge:extend:gravity`, of which any may be left out.
    fileprivate func readSize(into draft: inout ImgproxyDraft) throws(InvalidParameter) {
        if let text = self[0] { draft.width = try side(text) }
        if let text = self[1] { draft.height = try side(text) }
        if let text = self[2] { draft.enlarges = flag(text) }
        if self[3] != nil { try dropping(3).readExtend(into: &draft) }
    }

    /// `extend:gravity:x:y`
    fileprivate func readExtend(into draft: inout ImgproxyDraft) throws(InvalidParameter) {
        try require(atMost: 4)
        if texts.count > 1 { draft.extendGravity = try gravity(from: 1, allowsSmart: false) }
        draft.isExtended = flag(texts[0])
    }

    fileprivate func dropping(_ count: Int) -> ImgproxyArguments {
        ImgproxyArguments(option: option, texts: Array(texts.dropFirst(count)))
    }

    fileprivate func sizing(_ text: Substring) throws(InvalidParameter) -> Layout.Sizing {
        guard let sizing = Layout.Sizing(rawValue: String(text)) else {
            throw error(text, isNot: "one of fit, fill, fill-down, force and auto")
        }
        return sizing
    }

    func side(_ text: Substring) throws(InvalidParameter) -> Int { try integer(text, "a number of pixels, or 0") }

    func factor(_ text: Substring) throws(InvalidParameter) -> Double {
        try number(text, in: Layout.factors, "a factor from 0.001 to 1000")
    }
}
