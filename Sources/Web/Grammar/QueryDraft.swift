import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomTransforms

/// The values of a query as given, before they are weighed against each other.
struct QueryDraft: Sendable {
    /// What leaving out a side of the focal point means, so that without a focal point it may be written out too.
    static let middle = 0.5

    var url: String?
    var fallback: String?
    var width: Int?
    var height: Int?
    var pixelRatio = Hundredths.one
    var fit = Fit.inside
    var enlarge: Bool?
    var withoutEnlargement = false
    var scaleDown = false
    var place: PlaceName?
    var focalX = QueryDraft.middle
    var focalY = QueryDraft.middle
    var crop: Crop?
    var trim: Int?
    var orientation = Orient.Rule.auto
    var rotationDegrees = 0
    var flip = false
    var flop = false
    var background: Color?
    var blur: Blur?
    var sharpen: Sharpen?
    var brightness = 0
    var contrast = 0
    var saturation = 1.0
    var hue = 0
    var gamma = 1.0
    var tint: Color?
    var filter: Filter?
    var resampling: Resampling?
    var output = OutputName.auto
    var details: ImageDetails?
    var placeholders: ImageDetails = []
    var tellsPosition = false
    var tellsCaching = false
    var quality: Int?
    var lossless = false
    var interlaced = false
    var frames: Int?
    var firstPage = 1
    var cache = CacheMode.default
    var store = TierSelection.all
    var waitsForDisk = false
    var priority: Priority?
    var maxAge: Duration?
    var fileName: String?
}

/// What `output` may say.
enum OutputName: Hashable, Sendable {
    case auto
    case format(OutputFormat)
}
