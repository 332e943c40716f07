import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomTransforms

/// The language of prefetching: each source with each query, all in the words of `/image`.
struct PrefetchGrammar: Sendable {
    let queries: ImageQueryGrammar
    var presets = Presets()

    /// A query and what it came to.
    private struct Reading {
        let text: String
        let query: ImageQuery
    }

    /// The pictures that a body asks for, all of a source's together, so that it is downloaded once and still at hand for each.
    ///
    /// - Parameter takesWebP: what `output=auto` means.
    func pictures(of body: PrefetchBody, takesWebP: Bool) throws(InvalidBody) -> [PrefetchItem] {
        let count = body.urls.count * max(1, body.queries.count + body.widths.count)
        guard count <= Prefetcher.maxItems else {
            throw InvalidBody(
                "urls", "These are \(count) pictures; a job may have \(Prefetcher.maxItems), so send several.")
        }
        let readings = try readings(of: body)
        var pictures: [PrefetchItem] = []
        pictures.reserveCapacity(count)
        for (index, url) in body.urls.enumerated() {
            let plain = try request(for: url, named: "urls[\(index)]")
            for reading in readings {
                var request = plain
                reading.query.fill(&request, takesWebP: takesWebP)
                pictures.append(PrefetchItem(request, label: reading.text))
            }
        }
        return pictures
    }

    private func readings(of body: PrefetchBody) throws(InvalidBody) -> [Reading] {
        var readings: [Reading] = []
        for (index, query) in body.queries.enumerated() {
            readings.append(try reading(query, named: "queries[\(index)]"))
        }
        for (index, width) in body.widths.enumerated() {
            readings.append(try reading("w=\(width)", named: "widths[\(index)]"))
        }
        return readings.isEmpty ? [try reading("", named: "queries")] : readings
    }

    private func reading(_ text: String, named name: String) throws(InvalidBody) -> Reading {
        do throws(InvalidParameter) {
            var pairs = try QueryString(parsing: text)
            guard !pairs.pairs.contains(where: { $0.name == "url" }) else {
                throw InvalidParameter("url", "A query here has no 'url'; sources are in 'urls'.")
            }
            pairs = try presets.expanding(pairs)
            pairs.pairs.append(QueryString.Pair(name: "url", value: "file"))
            let query = try queries.parse(pairs)
            if let fallback = query.fallback { _ = try request(for: fallback) }
            return Reading(text: text, query: query)
        } catch {
            throw InvalidBody(name, error.detail)
        }
    }

    private func request(for url: String, named name: String) throws(InvalidBody) -> ImageRequest {
        do throws(InvalidParameter) { return try request(for: url) } catch { throw InvalidBody(name, error.detail) }
    }

    private func request(for url: String) throws(InvalidParameter) -> ImageRequest {
        do throws(Problem) {
            return try ImageRequest(url, givenAs: "url")
        } catch {
            throw InvalidParameter("url", error.detail)
        }
    }
}

extension ImageQuery {
    /// Asks for what the query says, as whoever has the admin token may.
    fileprivate func fill(_ request: inout ImageRequest, takesWebP: Bool) {
        request.recipe = recipe
        request.pages = pages
        request.output = output.options(takesWebP: takesWebP)
        request.cache = CacheOptions(
            policy: RequestCachePolicy(mode: cache, allowsForcedRefresh: true), store: store, waitsForDisk: waitsForDisk)
    }
}
