/// Where a listener accepts connections.
package enum ListenerAddress: Hashable, Sendable {
    /// A host name or an IP address, and a port; port 0 = any free port.
    case host(String, port: Int)
    /// A Unix socket that is created at this path.
    case unixSocket(path: String)
    /// A listening socket that another process opened and this process inherited.
    case inherited(descriptor: CInt)
}
