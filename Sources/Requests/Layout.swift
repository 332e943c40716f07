/// The geometry that only the rules of imgproxy have, besides the box of a ``Recipe``.
///
/// Sizes, gravities and offsets have the meaning of imgproxy. `LayoutSizes` computes with them.
public struct Layout: Hashable, Codable, Sendable {
    /// How the image fits its box.
    public enum Sizing: String, Codable, Sendable, CaseIterable {
        /// As large as possible within the box.
        case fit
        /// Covers the box; the overhang is cropped. Sides that the image does not reach stay shorter.
        case fill
        /// Like `fill`, but an image that does not reach a side is cropped to the box's aspect ratio.
        case fillDown = "fill-down"
        /// Stretched to the box.
        case force
        /// `fill` if image and box are both portrait or both landscape, otherwise `fit`.
        case auto
    }

    /// The part of an image that is kept, or the position of an image on its canvas.
    public struct Gravity: Hashable, Codable, Sendable {
        /// An anchor, or how the part is found.
        public enum Point: Hashable, Codable, Sendable {
            case anchor(Anchor)
            /// The most salient part (libvips `smartcrop`).
            case attention
            /// Around faces; `attention` if none is found.
            case faces(FaceFocus.Choice)
            /// The point at the shares ``Gravity/x`` and ``Gravity/y`` of width and height.
            case focal
        }

        public var point: Point
        /// The distance from the anchored edge, or to the right for a centered anchor. A number of at least 1, or at
        /// most -1, is in CSS pixels; any other number is a share of the width. For `focal`, the share of the point,
        /// 0…1.
        public var x: Double
        /// The same downward.
        public var y: Double

        /// A gravity without offsets by default.
        public init(_ point: Point = .anchor(.center), x: Double = 0, y: Double = 0) {
            self.point = point
            self.x = x
            self.y = y
        }
    }

    /// A part of the upright source, cut out before anything is scaled.
    public struct Window: Hashable, Codable, Sendable {
        /// In pixels from 1, otherwise a share of the width; 0 = the whole width.
        public var width: Double
        /// In pixels from 1, otherwise a share of the height; 0 = the whole height.
        public var height: Double
        /// Nil = ``Layout/gravity``.
        public var gravity: Gravity?

        /// A part of these sides.
        public init(width: Double, height: Double, gravity: Gravity? = nil) {
            self.width = width
            self.height = height
            self.gravity = gravity
        }
    }

    /// How the image fits its box.
    public var sizing = Sizing.fit
    /// The device pixel ratio, which never enlarges an image on its own.
    public var pixelRatio = 1.0
    /// Factors of width and height on top of the box.
    public var zoom = Scale(x: 1, y: 1)
    /// Nil = the whole image.
    public var crop: Window?
    /// Which part `fill` and `fill-down` keep.
    public var gravity = Gravity()
    /// The position of an image that is smaller than its box on a canvas of the box's size; nil = there is no canvas.
    public var extend: Gravity?
    /// The same for a canvas of the box's aspect ratio.
    public var extendRatio: Gravity?
    /// Whether `trim` removes as much from the left as from the right.
    public var trimsEvenlyAcross = false
    /// Whether `trim` removes as much from the top as from the bottom.
    public var trimsEvenlyDown = false
    /// The longest side of the result, in pixels, to which larger results are scaled down; nil = no limit.
    public var maxSide: Int?

    /// Two factors.
    public struct Scale: Hashable, Codable, Sendable {
        public var x: Double
        public var y: Double

        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// The defaults of imgproxy.
    public init() {}
}
