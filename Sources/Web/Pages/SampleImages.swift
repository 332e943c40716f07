/// The images that the playground offers on servers without `local-root`.
///
/// The photographs are in the public domain (CC0): the cat by Stéfan van der Walt, the coffee by Rachel Michetti.
package enum SampleImages {
    /// The bytes of each image by the path of its `local:` URL.
    package static let files: [String: [UInt8]] = [
        "/samples/coffee.jpg": PackageResources.coffee_jpg,
        "/samples/cat.jpg": PackageResources.cat_jpg,
        "/samples/paper-plane.svg": PackageResources.paper_plane_svg,
    ]
}
