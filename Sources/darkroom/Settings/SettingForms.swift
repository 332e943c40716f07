import Origin
import Pipeline

/// A value as text, and how its key was spelled by whoever gave it.
struct SettingText {
    let spelling: String
    let text: String

    private func refused(_ allowed: String) -> SettingError { SettingError(spelling, given: text, allowed: allowed) }

    func integer(in range: ClosedRange<Int>) throws(SettingError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw refused("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Plain bytes, or a number with `B`, `KiB`, `MiB`, `GiB`.
    func bytes(atLeast minimum: Int) throws(SettingError) -> Int {
        let units = ["GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1]
        let (digits, unit) = parts
        guard let number = Int(digits), let factor = unit.isEmpty ? 1 : units[unit] else {
            throw refused("a number of bytes such as 1048576, 512KiB, 256MiB or 10GiB")
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, bytes >= minimum else { throw refused("at least \(minimum) bytes, and at most \(Int.max)") }
        return bytes
    }

    /// A number with `ms`, `s`, `m`, `h` or `d`, above zero and at most ten years.
    func duration() throws(SettingError) -> Duration {
        let units = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        let (digits, unit) = parts
        guard let number = Int(digits), let factor = units[unit], number > 0,
            number <= 3650 * 86_400_000 / factor
        else { throw refused("a duration above zero such as 500ms, 15s, 5m, 12h or 7d") }
        return .milliseconds(number * factor)
    }

    func choice<Choice: CaseIterable & RawRepresentable<String>>(of type: Choice.Type) throws(SettingError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            throw refused(Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    func network() throws(SettingError) -> CIDR {
        do {
            return try CIDR(parsing: text)
        } catch {
            throw SettingError("\(spelling): \(error)")
        }
    }

    /// `HOSTGLOB=NAMEGLOB`.
    func dropRule() throws(SettingError) -> QueryDroppingFilter.Rule {
        let halves = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else {
            throw refused("rules of the form HOSTGLOB=NAMEGLOB,NAMEGLOB, such as *.example.com=utm_*,token")
        }
        return QueryDroppingFilter.Rule(hostPattern: halves[0], parameterPatterns: [halves[1]])
    }

    private var parts: (digits: String, unit: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return (String(digits), String(text[digits.endIndex...]))
    }
}
