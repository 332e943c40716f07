import DarkroomCache
import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting
import NIOCore

// Answers in two steps: if the requested output takes long to encode, the request is answered in a quicker output, and
// the requested output is encoded in the background.
extension ImageResolver {
    /// The answer in the interim output while the requested output is being encoded; nil if it is not being encoded.
    func imageWhileUpgrading(_ request: ResolvedRequest) async throws(PipelineError) -> ImageResponse? {
        guard let interim = request.companion(.interim), upgrades.jobs.isPending(request.upgradeKey) else { return nil }
        var response = try await image(for: interim)
        response.isInterim = response.format != request.input.output.format
        return response
    }

    /// Whether a stored variant in the interim output is the answer although the original is available: the requested
    /// output would take too long, or has the same format.
    func prefersInterim(_ request: ResolvedRequest, stored: VariantRecord) -> Bool {
        stored.format == request.input.output.format || upgrades.jobs.isPending(request.upgradeKey)
            || encodingTime(of: request, at: stored.size) > encodingBudget
    }

    /// Whether a request whose variant is not cached is answered in its interim output.
    ///
    /// While clients wait for a pixel thread, nothing is estimated: reading the header would be another wait, and a
    /// quicker output helps all waiting clients. A final answer does not depend on the current load.
    func prefersInterim(_ request: ResolvedRequest, from original: Original) async -> Bool {
        guard request.outputs[.interim] != nil else { return false }
        if producer.pixels.queue.hasWaitingClients, mayUpgrade(request, from: original), hasQuickerInterim(request) {
            return true
        }
        do throws(PipelineError) {
            return try await upgrades.decisions.value(
                for: request.upgradeKey, urgency: request.urgency, deadline: request.access.deadline
            ) { urgency throws(PipelineError) in
                let pixels = producer.pixels
                let parts = try await originalsOfParts(of: request)
                let plan = try await pixels.plan(pixels.job(for: request, from: original, parts: parts), urgency)
                return isSlow(request, plan)
            }.value
        } catch {
            // The requested output may exceed the limit on processing time where the quicker output does not.
            return error.isRefusalOfImage
        }
    }

    /// Whether an image of this plan is answered in the interim output first: encoding the requested output takes
    /// longer than the budget, and encoding the interim output at most half as long. An animation is encoded in another
    /// format than its own.
    func isSlow(_ request: ResolvedRequest, _ plan: ImagePlan) -> Bool {
        guard plan.format == request.input.output.format, let interim = request.input.interim else { return false }
        let own = encodingTime(of: request, at: plan.size, effort: plan.effort) + .milliseconds(plan.choiceWork)
        let format = interim.format ?? interim.natural(for: plan.sourceFormat)
        return own > encodingBudget && producer.speed.duration(of: plan.size, as: interim, format) <= own / 2
    }

    /// Whether encoding an image of a megapixel in the interim output takes at most half as long as in the requested
    /// output. An interim output in the format of the source counts as quick.
    func hasQuickerInterim(_ request: ResolvedRequest) -> Bool {
        guard let interim = request.input.interim, interim.format != nil else { return true }
        let size = PixelSize(width: 1_000, height: 1_000)
        return producer.speed.duration(of: size, as: interim) <= encodingTime(of: request, at: size) / 2
    }

    /// The estimated time of encoding the request's own output.
    ///
    /// - Parameter effort: the encoder's effort; nil = the configured effort.
    func encodingTime(of request: ResolvedRequest, at size: PixelSize, effort: Int? = nil) -> Duration {
        producer.speed.duration(of: size, as: request.input.output, effort: effort)
    }

    /// Whether the requested output can be stored, so that it can replace the interim output.
    func mayUpgrade(_ request: ResolvedRequest, from original: Original? = nil) -> Bool {
        cache.keepsVariants(of: request.access) && original?.mayBeStored ?? true
    }

    /// A response in the interim output, and the start of encoding the requested output. If the requested output cannot
    /// be stored, it is not encoded, and the response is final.
    ///
    /// - Parameter original: the original to process; nil = the original that the caches or the origin have later.
    func interimResponse(
        _ response: ImageResponse, to request: ResolvedRequest, from original: Original? = nil
    ) -> ImageResponse {
        guard response.format != request.input.output.format, mayUpgrade(request, from: original) else {
            return response
        }
        var response = response
        response.isInterim = true
        if original != nil || !request.cache.policy.isOnlyIfCached {
            var job = request.inBackground.without(.interim)
            job.parts = job.parts?.released
            // Another original may look different.
            if original != nil, response.format == .webp { job.webPBytes = response.body.readableBytes }
            upgrade(job, from: original)
        }
        return response
    }

    /// Starts a job that makes a request's own output in the background.
    private func upgrade(_ job: ResolvedRequest, from original: Original?) {
        // Without the reservation of the download, which others wait for. The bytes are bounded by the jobs themselves.
        let held = original?.released
        let bytes = (held?.body.count ?? 0) + (job.parts?.heldBytes ?? 0)
        upgrades.start(job.upgradeKey, holding: bytes, urgency: job.urgency) { () async throws(PipelineError) in
            guard cache.isCurrent(job.access, held?.record) else { throw .cancelled }
            let isStored: Bool
            if let held {
                isStored = try await produce(job, from: held).isStored
            } else {
                let report = try await image(for: job).cache
                isStored = report.variant != nil || report.isStored
            }
            guard cache.isCurrent(job.access, held?.record) else { throw .cancelled }
            return isStored || cache.storesLater(job.access)
        }
    }
}

extension ResolvedRequest {
    /// The key by which requests share the job that makes their own output.
    var upgradeKey: FormatUpgrades.Key { FormatUpgrades.Key(variant: keys.variant, epoch: access.epoch) }
}
