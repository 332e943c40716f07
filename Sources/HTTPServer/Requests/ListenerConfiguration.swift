package import DarkroomNetwork
package import Hummingbird

/// One listener: its address, routes, limits and observers.
package struct ListenerConfiguration: Sendable {
    package var address: ListenerAddress
    /// The path that a reverse proxy puts in front of every route, such as `/images`; empty = none.
    package var basePath = ""
    /// Parameters that are removed from targets.
    package var ignoredParameters = IgnoredParameters()
    /// What precedes the types of problems, as in `https://images.example.com`; empty = they are relative.
    package var problemBase = ""
    /// HTML at the end of problems that are pages.
    package var problemLinks = ""
    package var routes: [Route] = []
    package var limits = ConnectionLimits.default
    package var proxies = TrustedProxies()
    package var observers: RequestObservers
    /// The problem of a path without a route.
    package var missingRoute: @Sendable (String) -> Problem = { _ in .noSuchRoute }

    /// The response to a request that came without a socket, with this id unless the client has its own.
    package func response(to request: Request, from client: IPAddress?, id: String) async -> Response {
        let peer = client.map { RequestHead.Peer($0, proxies) }
        return await Exchange(Site(self), RequestHead(request.head, from: peer), id: id).response(to: request, nil)
    }

    /// The value of `Server`.
    static let serverName = "darkroom"
}

extension ListenerConfiguration {
    /// A listener without routes.
    package init(_ address: ListenerAddress, observers: RequestObservers) {
        self.init(address: address, observers: observers)
    }
}

/// Where a listener accepts connections.
package enum ListenerAddress: Hashable, Sendable {
    /// A host name or an IP address, and a port; port 0 = any free port.
    case host(String, port: Int)
    case unixSocket(path: String)
    /// A listening socket that another process opened and this process inherited.
    case inherited(descriptor: CInt)
}
