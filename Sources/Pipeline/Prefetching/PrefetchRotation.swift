/// Whose picture is next. Jobs take turns, so that a small one never waits for the whole of a large one.
struct PrefetchRotation: Sendable {
    private struct Line {
        let job: PrefetchJob
        var pictures: ArraySlice<PrefetchItem>
    }

    /// None is empty; the first has its turn.
    private var lines: [Line] = []

    mutating func append(_ pictures: [PrefetchItem], of job: PrefetchJob) {
        guard !pictures.isEmpty else { return }
        lines.append(Line(job: job, pictures: pictures[...]))
    }

    mutating func remove(_ job: PrefetchJob) {
        lines.removeAll { $0.job === job }
    }

    /// Nil when nothing waits.
    mutating func next() -> (job: PrefetchJob, picture: PrefetchItem)? {
        guard !lines.isEmpty else { return nil }
        var line = lines.removeFirst()
        guard let picture = line.pictures.popFirst() else { return nil }
        if !line.pictures.isEmpty { lines.append(line) }
        return (line.job, picture)
    }
}
