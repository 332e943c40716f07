/// A port that the server listens at.
package enum Listener: Hashable, Sendable {
    /// For everybody; also for administration where that has no door of its own.
    case main
    /// For administration alone.
    case admin
}

extension WebConfiguration {
    /// Those that there are.
    package var doors: [Listener] { adminPort == nil ? [.main] : [.main, .admin] }

    /// Where a door is to be opened.
    func address(of door: Listener) -> (host: String, port: Int) {
        switch door {
        case .main: (host, port)
        case .admin: (adminHost, adminPort ?? 0)
        }
    }
}
