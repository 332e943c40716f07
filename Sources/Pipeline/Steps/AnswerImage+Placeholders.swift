extension AnswerImage {
    /// Placeholders are worth a download of a source whose bytes are gone, but they never cost a picture that is at hand: where they
    /// cannot be had, it goes out without them.
    func withOrWithoutPlaceholders(_ wanted: Wanted) async throws(PipelineError) -> ImageResponse {
        do throws(PipelineError) {
            return try await self(wanted)
        } catch {
            guard wanted.document != nil, !wanted.insists, error != .cancelled, let known = await keep.known(wanted),
                await find(wanted, of: known.content) != nil
            else { throw error }
            return try await self(wanted.withoutPlaceholders)
        }
    }
}

extension ImageResponse {
    func with(_ placeholders: Placeholders?) -> ImageResponse {
        var picture = self
        picture.placeholders = placeholders
        return picture
    }
}
