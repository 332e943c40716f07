/// What became of the purges that one edge was told, since the server started.
package struct EdgeStatistics: Hashable, Sendable {
    /// See ``EdgeDestination/name``.
    package let edge: String
    /// Requests that the edge confirmed.
    package internal(set) var told = 0
    /// Requests that failed and are repeated: the edge was busy or did not answer.
    package internal(set) var postponed = 0
    /// Requests that the edge refused.
    package internal(set) var refused = 0
    /// How often too many purges waited, so that one purge of everything took their place.
    package internal(set) var collapsed = 0
    /// Purges that wait, each counted once for each time that it is told.
    package internal(set) var pending = 0
    /// How long the purge that is overdue the longest has been so, in seconds; 0 if none is.
    package internal(set) var overdueSeconds = 0.0

    init(edge: String) { self.edge = edge }
}
