/// How long work has taken of late, for predictions. Moving means: a tenth of each is what came last.
struct Pace {
    private var secondsPerWork = 0.002
    private var meanWork = 50.0

    /// What work of this weight will take; what has not been weighed yet counts as the mean.
    func seconds(_ weight: JobWeight?) -> Double { (weight?.work ?? meanWork) * secondsPerWork }

    mutating func note(_ weight: JobWeight, tookSeconds seconds: Double) {
        guard weight.work > 0 else { return }
        // Weighted by time: of many small pictures and a large one, it is the large one that others wait for.
        let share = 0.1
        let total = (1 - share) * meanWork + share * weight.work
        secondsPerWork = ((1 - share) * meanWork * secondsPerWork + share * seconds) / total
        meanWork = total
    }
}
