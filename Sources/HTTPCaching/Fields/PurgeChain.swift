import DarkroomNetwork
package import HTTPTypes

/// The field by which a purge that follows from a purge of this server is recognized. Edges get it with each purge, and
/// a webhook's receiver that purges here again passes it on; such a purge is carried out, and nobody is told of it.
package enum PurgeChain {
    /// `Darkroom-Purge`, with the id of the first purge.
    package static let field = HTTPField.Name.known("Darkroom-Purge")
}
