import DarkroomMetrics
import DarkroomPipeline

extension ServerMetrics {
    /// The work of answering in two steps.
    var formatFamilies: [MetricFamily] {
        let upgrades = pipeline.formatUpgrades
        return [
            MetricFamily(
                "darkroom_interim_answers_total", .counter,
                help: "Images answered in a quicker format than the preferred one, which was not made yet.",
                Double(upgrades.interimAnswers)),
            MetricFamily(
                "darkroom_format_upgrades_total", .counter,
                help:
                    "Images in preferred formats behind interim answers, by result: made, dropped (under load, or "
                    + "after a purge) or failed.",
                upgrades.outcomes.map { .init(SeriesLabels([("result", $0.result)]), .number(Double($0.count))) }),
            MetricFamily(
                "darkroom_format_upgrades_waiting", .gauge,
                help: "Images that wait for their turn to be made in their preferred format.",
                Double(upgrades.waiting)),
            MetricFamily(
                "darkroom_format_upgrades_running", .gauge, help: "Images that are made in their preferred format.",
                Double(upgrades.running)),
        ]
    }
}
