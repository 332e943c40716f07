import DarkroomMetrics
import DarkroomPipeline

extension ServerMetrics {
    /// The work of answering in two steps.
    var formatFamilies: [MetricFamily] {
        let upgrades = pipeline.formatUpgrades
        return [
            MetricFamily(
                "darkroom_interim_answers_total", .counter,
                help: "Images answered in a faster format because the preferred format was not ready.",
                Double(upgrades.interimAnswers)),
            MetricFamily(
                "darkroom_format_upgrades_total", .counter,
                help:
                    "Images made in the preferred format after a response in a faster format, by result: made, dropped "
                    + "(under load, or after a purge) or failed.",
                upgrades.outcomes.map { .init(SeriesLabels([("result", $0.result)]), .number(Double($0.count))) }),
            MetricFamily(
                "darkroom_format_upgrades_waiting", .gauge,
                help: "Images waiting to be made in the preferred format.",
                Double(upgrades.waiting)),
            MetricFamily(
                "darkroom_format_upgrades_running", .gauge, help: "Images being made in the preferred format.",
                Double(upgrades.running)),
        ]
    }
}
