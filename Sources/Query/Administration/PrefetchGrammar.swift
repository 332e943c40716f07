import DarkroomHTTPCaching
package import DarkroomNetwork
package import DarkroomRequests

/// The grammar of prefetching: each source with each query, in the parameters of `/image`.
package struct PrefetchGrammar: Sendable {
    private let grammar: ImageQueryGrammar
    private let presets: Presets
    private let sourceMap: SourceMap
    private let negotiation: NegotiationPolicy

    package init(
        limits: QueryLimits = QueryLimits(), presets: Presets = Presets(), sourceMap: SourceMap = SourceMap(),
        negotiation: NegotiationPolicy = NegotiationPolicy()
    ) {
        grammar = ImageQueryGrammar(limits: limits)
        self.presets = presets
        self.sourceMap = sourceMap
        self.negotiation = negotiation
    }

    /// A query of the body, and how it was read.
    private struct Variant {
        let text: String
        let query: ImageQuery
        let parts: [PartImage]
    }

    /// The images that a body asks for, each in the format that the field `Accept` prefers. Images of one source follow
    /// each other, so that the source is downloaded once.
    package func images(
        of body: PrefetchBody, accept: String?, connection: ConnectionHints = ConnectionHints(saveData: nil)
    ) throws(InvalidBody) -> [PrefetchItem] {
        let count = body.urls.count * max(1, body.queries.count + body.widths.count)
        guard count <= PrefetchItem.maxPerJob else {
            throw InvalidBody(
                "urls", "A job must have at most \(PrefetchItem.maxPerJob) images, got \(count); send several jobs.")
        }
        let variants = try variants(of: body)
        var images: [PrefetchItem] = []
        images.reserveCapacity(count)
        for (index, url) in body.urls.enumerated() {
            let source = try request(for: url, member: "urls[\(index)]")
            for variant in variants {
                var request = source
                request.parts = variant.parts
                // A prefetching job requires the admin token, whose bearer may force a refresh.
                variant.query.apply(
                    to: &request,
                    for: negotiation.preferences(of: variant.query, accept: accept, connection: connection),
                    policy: RequestCachePolicy(mode: variant.query.cache, allowsForcedRefresh: true))
                request.interim = nil
                images.append(PrefetchItem(request, label: variant.text))
            }
        }
        return images
    }

    private func variants(of body: PrefetchBody) throws(InvalidBody) -> [Variant] {
        var variants: [Variant] = []
        for (index, query) in body.queries.enumerated() {
            variants.append(try variant(query, member: "queries[\(index)]"))
        }
        for (index, width) in body.widths.enumerated() {
            variants.append(try variant("w=\(width)", member: "widths[\(index)]"))
        }
        return variants.isEmpty ? [try variant("", member: "queries")] : variants
    }

    private func variant(_ text: String, member: String) throws(InvalidBody) -> Variant {
        let query: ImageQuery
        do throws(InvalidParameter) {
            query = try grammar.parseWithoutSource(
                presets.expanding(QueryString(parsing: text)),
                elsewhere: "A query here must not contain 'url'; sources are given in 'urls'.")
        } catch {
            throw InvalidBody(member, error.detail)
        }
        if let fallback = query.fallback { _ = try request(for: fallback, member: member) }
        do throws(InvalidSourceURL) {
            return Variant(text: text, query: query, parts: try query.partImages(sourceMap))
        } catch {
            throw InvalidBody(member, error.detail)
        }
    }

    private func request(for url: String, member: String) throws(InvalidBody) -> ImageRequest {
        do throws(InvalidSourceURL) {
            return ImageRequest(source: try sourceMap.source(url, givenAs: "url").url)
        } catch {
            throw InvalidBody(member, error.detail)
        }
    }
}
