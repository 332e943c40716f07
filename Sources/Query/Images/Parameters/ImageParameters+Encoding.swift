import DarkroomRequests

extension ImageParameters {
    /// The parameters of the result's format.
    static func encoding(_ limits: QueryLimits) -> [Row] {
        let form: [Row] = [
            Row(
                "output", .output(without: limits.unwritable), \.format, .encoding, .encode, cost: .medium,
                "Format of the result. `auto` is the first of `formats` that `Accept` names, else the format of the "
                    + "source if `Accept` covers it. `origin` is always the format of the source."),
            Row(
                "formats", .formats, \.query.formats, .encoding, .encode, cost: .medium,
                "Formats that `output=auto` chooses from; by default the setting `formats`. `none` leaves the format "
                    + "of the source."),
            Row(
                "fields", .details(findsFaces: limits.findsFaces), \.details, .encoding, .decode, cost: .high,
                "Details to add to the document of `output=json`."),
            Row(
                "placeholder", .placeholders, \.query.placeholders, .encoding, .respond, cost: .high,
                "Placeholders of the result, sent as `X-Placeholder-*` fields."),
        ]
        let pages: [Row] = [
            Row(
                "n", .integer(1...limits.maxFrames), \.query.pages.count, .encoding, .decode, cost: .medium,
                "Number of frames or pages; by default all frames, or one page."),
            Row(
                "pick", .choice(FramePick.self), \.pick, .encoding, .decode,
                "Which frames of an animation remain with `n`: the `first` ones, or frames at `even` distances, each "
                    + "of which is shown longer, so that the duration stays."),
            Row(
                "page", .page, \.page, .encoding, .decode,
                "First frame or page, counted from 1, or the `primary`, `largest` or `smallest` page or image of an "
                    + "icon. `upto:9` is page 9, or the last one where there are fewer."),
        ]
        let damage = Row(
            "damaged", .choice(DamagePolicy.self), \.output.damaged, .encoding, .decode,
            "Whether a source of which parts cannot be decoded is refused, or shown as far as possible, for a minute "
                + "and with `X-Damaged`. The default is a setting.")
        return form + quality + pages + [damage]
    }
}
