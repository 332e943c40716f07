/// Darkroom or another service: whose URLs a server accepts, and whose order of steps and sizes a chain has.
public enum Dialect: String, Codable, Sendable, CaseIterable {
    case darkroom
    /// wsrv.nl, with the rules of weserv/images, its software.
    ///
    /// Without enlarging, `cover` and `fill` keep the box's sides that the image reaches instead of its aspect ratio. A
    /// quarter turn and mirroring come before `cover` crops and `contain` extends, another rotation after it. A crop
    /// comes before scaling and a cut right after cropping; parts of them outside the image are left out. The
    /// background comes before the mask, and in an animation `trim` removes columns only.
    case wsrv
    /// imgproxy. ``Layout`` has geometry that exists only with its rules.
    ///
    /// The image is trimmed before orientation, then rotated, cropped, scaled and cut. Colors and details follow, then
    /// canvases and padding, the background, and the mark. The pixel ratio never enlarges an image.
    case imgproxy
    /// thumbor and imagor, with the rules of imagor.
    ///
    /// Sizes are libvips' thumbnail sizes. The part of a crop outside the source is left out, and `trim` examines the
    /// whole source. Mirroring comes right after the resize, and before the listed steps.
    case thumbor
    /// Cloudflare Images.
    ///
    /// The source is cut, mirrored and rotated by quarter turns before it is scaled. With `outside`, the image is
    /// cropped to the box, and a side that does not reach the box keeps its length. With `outside` and enlarging, a
    /// smaller image is enlarged to fit into the box, and a larger image stays unchanged.
    case cloudflare
}
