import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomStore
import DarkroomTransforms

// Answers in two steps: a request whose own output takes long to encode is answered in a quicker one, and its own is
// made behind it.
extension ImageResolver {
    /// The answer in the interim output while the request's own is being made; nil if it is not.
    func imageWhileUpgrading(_ request: ResolvedRequest) async throws(PipelineError) -> ImageResponse? {
        guard let interim = request.interimRequest, upgrades.isPending(request.upgradeKey) else { return nil }
        return interimResponse(try await image(for: interim), to: request)
    }

    /// The variant in the interim output, if it is stored and the request's own would take too long.
    func interimVariant(for request: ResolvedRequest, of content: StoreKey) async -> VariantLookup.Found? {
        guard let interim = request.interimRequest, let found = await variants.find(interim, of: content),
            found.record.format == request.input.output.format || isSlow(request, at: found.record.size)
        else { return nil }
        return found
    }

    /// Whether a request whose variant has to be made is answered in its interim output.
    ///
    /// While images wait for a pixel thread, nothing is estimated: reading the header would be one more wait, and a
    /// quicker output is what everyone who waits needs.
    func prefersInterim(_ request: ResolvedRequest, from original: Original) async -> Bool {
        guard request.interimKeys != nil else { return false }
        if producer.pixels.queue.hasWaitingJobs { return true }
        let decision = try? await upgrades.decisions.value(
            for: request.upgradeKey, urgency: request.urgency, deadline: request.deadline
        ) { urgency throws(PipelineError) in
            let pixels = producer.pixels
            let plan = try await pixels.plan(pixels.job(for: request, from: original), urgency)
            return isSlow(request, plan)
        }
        return decision?.value ?? false
    }

    /// Whether an image of this plan is answered in the interim output first: not an animation, which is encoded in
    /// another format, nor a source whose own format, which then is the interim one, is no quicker.
    func isSlow(_ request: ResolvedRequest, _ plan: ImagePlan) -> Bool {
        guard plan.format == request.input.output.format,
            request.input.interim?.format != nil || plan.sourceFormat != .avif
        else { return false }
        return isSlow(request, at: plan.size)
    }

    /// Whether encoding the request's own output is estimated to take longer than the budget.
    func isSlow(_ request: ResolvedRequest, at size: PixelSize) -> Bool {
        encodingTime(of: request, at: size) > encodingBudget
    }

    func encodingTime(of request: ResolvedRequest, at size: PixelSize) -> Duration {
        producer.speed.duration(of: size, as: request.input.output)
    }

    /// Marks a response in the interim output.
    func interimResponse(_ response: ImageResponse, to request: ResolvedRequest) -> ImageResponse {
        guard response.format != request.input.output.format else { return response }
        var response = response
        response.isInterim = true
        upgrades.recordInterimAnswer()
        return response
    }

    /// Starts to make the request's own output in the background.
    ///
    /// - Parameter original: what it is made from; nil = what the caches or the origin have then.
    func upgrade(_ request: ResolvedRequest, from original: Original? = nil) {
        let job = request.inBackground
        guard !job.cache.store.variants.isEmpty, original?.mayBeStored ?? !request.cache.policy.isOnlyIfCached else {
            return
        }
        // Without the reservation of the download, which others wait for. The bytes are bounded by the jobs themselves.
        let held = original?.released
        upgrades.start(request.upgradeKey, holding: held?.body.count ?? 0) { () async throws(PipelineError) in
            guard caches.isCurrent(job) else { throw .cancelled }
            if let held {
                _ = try await producer.produce(job, from: held) { () async throws(PipelineError) in
                    try await originalOfMark(of: job)
                }
            } else {
                _ = try await image(for: job)
            }
        }
    }
}

extension ResolvedRequest {
    /// What requests share a job of making their own output by.
    var upgradeKey: FormatUpgrades.Key { FormatUpgrades.Key(variant: keys.variant, epoch: epoch) }
}
