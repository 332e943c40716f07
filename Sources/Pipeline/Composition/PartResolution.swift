import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting
import Synchronization

// The images that a request draws are resolved before the request, because its keys depend on their content.
extension ImagePipeline {
    /// The request with the images that it draws, from the caches or from their origins, which are asked at once.
    func withParts(_ request: ResolvedRequest) async throws(PipelineError) -> ResolvedRequest {
        let parts = request.input.parts
        guard !parts.isEmpty else { return request }
        let outcomes = await withTaskGroup(of: (Int, Result<PartOutcome, PipelineError>).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask {
                    (
                        index,
                        await Result { () async throws(PipelineError) in try await self.outcome(part, of: request) }
                    )
                }
            }
            var outcomes: [Int: Result<PartOutcome, PipelineError>] = [:]
            for await (index, outcome) in group {
                outcomes[index] = outcome
                // The request fails anyway.
                if case .failure = outcome { group.cancelAll() }
            }
            return outcomes
        }
        var resolved = ResolvedParts()
        // The error that canceled the others.
        let failures = outcomes.values.compactMap { outcome in
            if case .failure(let error) = outcome, error != .cancelled { error } else { nil }
        }
        if let error = failures.first { throw error }
        for index in parts.indices {
            switch try outcomes[index]?.get() {
            case .found(let part)?: resolved.found.append(part)
            case .leftOut(let error)?: resolved.leftOut.append((parts[index], error))
            case nil: break
            }
        }
        var complete = resolve(request.input, observer: request.observer, parts: resolved)
        complete.urgency = request.urgency
        complete.access.deadline = request.access.deadline
        complete.keepsOriginal = request.keepsOriginal
        return complete
    }

    private enum PartOutcome: Sendable {
        case found(ResolvedPart)
        case leftOut(PipelineError)
    }

    /// One drawn image, its fallback, or why the result is made without it.
    private func outcome(_ part: PartImage, of request: ResolvedRequest) async throws(PipelineError) -> PartOutcome {
        do throws(PipelineError) {
            return .found(try await found(part, of: request))
        } catch {
            guard error.permitsFallback(for: []) else { throw error.ofPart(part.name) }
            if let replacement = part.replacement {
                do throws(PipelineError) {
                    return .found(try await found(replacement, of: request, instead: (part.source, error)))
                } catch let failure {
                    // A fallback that may never be used reports its own error.
                    guard failure.statusOfSource != nil else { throw failure.ofPart(part.name) }
                }
            }
            guard part.mayBeLeftOut else { throw error.ofPart(part.name) }
            return .leftOut(error)
        }
    }

    private func found(
        _ part: PartImage, of request: ResolvedRequest, instead failure: (SourceURL, PipelineError)? = nil
    ) async throws(PipelineError) -> ResolvedPart {
        var asked = partRequest(part, of: request.input, request.urgency)
        asked.access.deadline = request.access.deadline
        return try await resolver.part(part, asked, instead: failure)
    }

    /// The images that a request draws, if their records are in memory and may be used without contacting an origin;
    /// nil for a request without images. Never waits.
    func partsAtOnce(of request: ImageRequest, _ urgency: Urgency) -> ResolvedParts? {
        guard !request.parts.isEmpty else { return nil }
        var resolved = ResolvedParts()
        for part in request.parts {
            guard let found = resolver.partAtOnce(part, partRequest(part, of: request, urgency)) else { return nil }
            resolved.found.append(found)
        }
        return resolved
    }

    func partRequest(_ part: PartImage, of request: ImageRequest, _ urgency: Urgency) -> ResolvedRequest {
        // Its color proves that the image decodes.
        var input = ImageRequest(
            source: part.source, pages: PageSelection(count: 1), output: OutputOptions(format: .color),
            priority: request.priority, cache: request.data == nil ? request.cache : request.cache.besideData)
        input.cache.waitsForDisk = false
        input.client = request.client
        if !part.isTrusted { input.account = request.account }
        if !input.cache.policy.allowsStoring { input.cache.store = .none }
        let chain = TransformChain(input.recipe, limits: configuration.limits)
        let keys = RequestKeys(input, chain: chain, identity: keyFilter.identity(of: input.source), epoch: encoderEpoch)
        return ResolvedRequest(
            input: input, chain: chain, keys: keys, epoch: resolver.cache.epoch(of: keys.source, input.source),
            urgency: urgency)
    }

    /// The request with the images that it draws as they are known at once; nil if one has to be waited for.
    func currentRequest(of lookup: ImageLookup) -> ResolvedRequest? {
        guard !lookup.request.parts.isEmpty else { return lookup.resolved }
        let last = lookup.complete.withLock(\.self) ?? lookup.resolved
        guard let known = last.parts?.found ?? partsAtOnce(of: last.input, last.urgency)?.found else { return nil }
        var parts = ResolvedParts()
        for part in known {
            guard let found = resolver.partAtOnce(part.part, part.request) else { return nil }
            parts.found.append(found)
        }
        guard let earlier = last.parts?.found, zip(earlier, parts.found).allSatisfy({ $0.record === $1.record }) else {
            return remember(last, parts, lookup)
        }
        return last
    }

    /// The request with images whose records are new, for later calls.
    private func remember(_ last: ResolvedRequest, _ parts: ResolvedParts, _ lookup: ImageLookup) -> ResolvedRequest {
        let earlier = last.parts?.found.map(\.record.content)
        var request = earlier == parts.found.map(\.record.content) ? last : resolve(last.input, parts: parts)
        request.parts = parts
        lookup.complete.withLock { [request] in $0 = request }
        return request
    }

    /// The request with its images as cached, whether or not they may be used. Has no side effect.
    func resolveForInspection(_ request: ImageRequest) async -> ResolvedRequest {
        var resolved = ResolvedParts()
        for part in request.parts {
            let asked = partRequest(part, of: request, Urgency(request.priority))
            guard let record = await resolver.peek(asked).look.record else { return resolve(request) }
            resolved.found.append(ResolvedPart(part, asked, record))
        }
        return resolve(request, parts: request.parts.isEmpty ? nil : resolved)
    }
}

extension ImageResolver {
    /// An image that a request draws, if its record is in memory and may be used without contacting the origin. Never
    /// waits.
    func partAtOnce(_ part: PartImage, _ request: ResolvedRequest) -> ResolvedPart? {
        guard let record = cache.storedRecord(request.access), !record.varies else { return nil }
        let evaluation = CacheEvaluation(
            stored: record.freshness, isSelected: true, policy: request.cache.policy, now: now())
        return evaluation.decision == .use ? ResolvedPart(part, request, record) : nil
    }

    /// An image that a request draws, from the caches or its origin.
    ///
    /// - Parameter failure: the source that it replaces, and its error.
    func part(
        _ part: PartImage, _ request: ResolvedRequest, instead failure: (SourceURL, PipelineError)?
    ) async throws(PipelineError) -> ResolvedPart {
        var request = request
        request.keepsOriginal = .ifAvailable
        let (response, record) = try await found(request)
        // Cached bytes are found again.
        var original = response.original
        if response.original?.isStored == true, !request.cache.store.originals.isEmpty { original = nil }
        return ResolvedPart(part, request, record, original: original, report: response.cache, failure: failure)
    }

    /// The bytes of the images that a request draws.
    func originalsOfParts(of request: ResolvedRequest) async throws(PipelineError) -> [DrawnOriginal] {
        var originals: [DrawnOriginal] = []
        for part in request.parts?.found ?? [] {
            do throws(PipelineError) {
                originals.append(DrawnOriginal(original: try await original(of: part), isTrusted: part.part.isTrusted))
            } catch { throw error.ofPart(part.part.name) }
        }
        return originals
    }

    private func original(of part: ResolvedPart) async throws(PipelineError) -> Original {
        if let original = part.original { return original }
        var again = part.request
        // The work is shared: one request's deadline must not end it for the others.
        again.access.deadline = nil
        again.keepsOriginal = .always
        if let original = await cache.original(part.record, for: again.access) { return original }
        // If the image has changed, the request starts over.
        let (response, record) = try await found(again)
        guard let original = response.original, record.content == part.record.content else { throw .failed }
        return original
    }

    /// Whether the caches have newer content of a drawn image.
    func hasChanged(_ part: ResolvedPart) -> Bool {
        cache.storedRecord(part.request.access).map { $0.content != part.record.content } ?? false
    }

    private func found(_ request: ResolvedRequest) async throws(PipelineError) -> (ImageResponse, SourceRecord) {
        let response = try await image(for: request)
        guard let record = response.record else { throw .failed }
        return (response, record)
    }
}
