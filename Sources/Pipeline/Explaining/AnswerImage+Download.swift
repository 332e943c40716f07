import DarkroomHTTPCaching

extension AnswerImage {
    /// The source's bytes without a picture being made, so that they are not kept. Where the origin fails, those that may stand in.
    func download(
        _ wanted: Wanted, known: SourceRecord?, because reason: CacheStatus.Reason, orElse atHand: Original?
    ) async throws(PipelineError) -> Original? {
        do throws(PipelineError) {
            let question = wanted.question(known: known, reason)
            let (answer, _) = try await answer(wanted, question, known: known)
            if let original = answer.original { return original }
            if let atHand, atHand.record.content == answer.record.content { return atHand }
            return try await self.answer(wanted, .content, known: answer.record).0.original
        } catch {
            guard let atHand, let known, await mayUse(stale: known, because: error, wanted) else { throw error }
            return atHand
        }
    }
}
