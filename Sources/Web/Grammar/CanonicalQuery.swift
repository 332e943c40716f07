import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomTransforms

/// The one spelling of what a query to `/image` asks for: defaults left out, `dpr` multiplied into the box, each value in one form, in
/// the order of the documentation.
///
/// Read by the grammar of the same limits it gives the same query again, so that two queries mean the same just where their canonical
/// texts are equal.
struct CanonicalQuery: Hashable, Sendable {
    struct Parameter: Hashable, Encodable, Sendable {
        let name: String
        /// Not percent-encoded; empty = the bare name.
        let value: String
    }

    let parameters: [Parameter]

    init(_ query: ImageQuery, limits: QueryLimits) {
        var list = ParameterList()
        list.add("url", query.url)
        list.add("default", query.fallback)
        list.add(query.recipe, limits)
        list.add(query.output)
        list.add("placeholder", ImageDetails.placeholderNames, query.placeholders)
        list.add("n", query.pages.count)
        list.add("page", query.pages.first, unless: 1)
        list.add("cache", query.cache.rawValue, unless: CacheMode.default.rawValue)
        list.add("store", TierSelection.names.name(of: query.store), unless: "all")
        list.add("wait", query.waitsForDisk ? "stored" : nil)
        list.add("priority", query.priority.flatMap(Priority.names.name(of:)))
        list.add("maxage", query.maxAge.map { "\($0.components.seconds)s" })
        list.add("filename", query.fileName)
        parameters = list.parameters
    }

    /// As it follows a `?`: everything but letters, digits, `-`, `.`, `_` and `~` is percent-encoded, so that it stands unharmed in HTML,
    /// in a `srcset` and behind a comma.
    var text: String { query.text }

    /// The same, to be read again.
    var query: QueryString { QueryString(pairs: parameters.map { QueryString.Pair(name: $0.name, value: $0.value) }) }
}

/// Parameters as they are written down one after the other.
private struct ParameterList {
    var parameters: [CanonicalQuery.Parameter] = []

    /// - Parameter standard: what needs not be said.
    mutating func add(_ name: String, _ value: String?, unless standard: String? = nil) {
        guard let value, value != standard else { return }
        parameters.append(CanonicalQuery.Parameter(name: name, value: value))
    }

    mutating func add(_ name: String, _ number: Int?, unless standard: Int? = nil) {
        guard number != standard else { return }
        add(name, number.map { "\($0)" })
    }

    mutating func add(_ name: String, _ number: Double?, unless standard: Double? = nil) {
        guard number != standard else { return }
        add(name, number.map(Shape.plain))
    }

    mutating func add(_ name: String, _ flag: Bool) { add(name, flag ? "true" : nil) }

    mutating func add(
        _ name: String, _ names: [(name: String, detail: ImageDetails)], _ details: ImageDetails
    ) {
        let told = names.filter { details.contains($0.detail) }.map(\.name)
        add(name, told.isEmpty ? nil : told.joined(separator: ","))
    }

    mutating func add(_ recipe: Recipe, _ limits: QueryLimits) {
        add("w", recipe.box.width)
        add("h", recipe.box.height)
        add("fit", recipe.fit.rawValue, unless: Fit.inside.rawValue)
        add("enlarge", recipe.enlarge)
        add("scaledown", recipe.scaleDown)
        add(recipe.position)
        add("resample", recipe.resampling.rawValue, unless: limits.defaultResampling.rawValue)
        add("crop", recipe.crop.map { "\($0.x),\($0.y),\($0.width),\($0.height)" })
        add("trim", recipe.trim?.threshold)
        add("orient", recipe.orientation.name, unless: "auto")
        add("ro", recipe.rotationDegrees, unless: 0)
        add("flip", recipe.flip)
        add("flop", recipe.flop)
        add("bg", recipe.background?.hex)
        add("bri", recipe.brightness?.percent)
        add("con", recipe.contrast?.percent)
        add("sat", recipe.saturation?.factor)
        add("hue", recipe.hue?.degrees)
        add("gam", recipe.gamma?.exponent)
        add("tint", recipe.tint?.color.hex)
        add("filt", recipe.filter?.rawValue)
        add("blur", recipe.blur.map { $0.sigma.map(Shape.plain) ?? "" })
        add("sharp", recipe.sharpen.map { $0.sigma.map(Shape.plain) ?? "" })
    }

    private mutating func add(_ position: Position) {
        if let name = PlaceName.names.name(of: .position(position)) { return add("a", name, unless: "center") }
        switch position {
        // `contain` makes such a point of a focal one.
        case .anchor(let x, let y), .focal(let x, let y):
            add("a", "focal")
            add("fpx", x, unless: 0.5)
            add("fpy", y, unless: 0.5)
        case .entropy, .attention: break
        }
    }

    mutating func add(_ output: ImageQuery.Output) {
        switch output {
        case .auto(let quality, let lossless, let interlaced):
            add("q", quality)
            add("ll", lossless)
            add("il", interlaced)
        case .explicit(let options):
            add("output", options.format?.rawValue)
            add("fields", ImageDetails.names, options.details)
            add("q", options.quality)
            add("ll", options.lossless)
            add("il", options.interlaced)
        }
    }
}

extension Orient.Rule {
    fileprivate var name: String {
        switch self {
        case .auto: "auto"
        case .none: "none"
        case .exif(let orientation): "\(orientation)"
        }
    }
}

extension KeyValuePairs where Key == String, Value: Equatable {
    /// The first name of a value.
    fileprivate func name(of value: Value) -> String? { first { $0.value == value }?.key }
}
