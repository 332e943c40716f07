import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomWeb

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

    /// As in the query grammar.
    func boolean() throws(SettingError) -> Bool {
        switch text {
        case "true", "1": return true
        case "false", "0": return false
        default: throw refused("true, false, 1 or 0")
        }
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

    /// A `duration()`, or none at all as `0`, with or without a unit.
    func durationOrZero() throws(SettingError) -> Duration {
        let (digits, unit) = parts
        guard Int(digits) == 0, ["", "ms", "s", "m", "h", "d"].contains(unit) else { return try duration() }
        return .zero
    }

    /// What a client can send as a bearer token (RFC 6750 §2.1), long enough not to be guessed. The refusal does not
    /// repeat it.
    func token() throws(SettingError) -> String {
        guard text.utf8.count >= 16, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw SettingError(
                "\(spelling): at least 16 letters, digits and signs of ASCII are needed, without blanks.")
        }
        return text
    }

    /// A status for an answer that has a body (RFC 9110 §6.4.1).
    func statusWithBody() throws(SettingError) -> Int {
        guard let status = Int(text), (200...599).contains(status), ![204, 205, 304].contains(status) else {
            throw refused("a status from 200 to 599, other than 204, 205 and 304, which have no body")
        }
        return status
    }

    func choice<Choice: CaseIterable & RawRepresentable<String>>(of type: Choice.Type) throws(SettingError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            throw refused(Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// An absolute http or https URL without user, query and fragment, as it stands before paths: without slashes at its end.
    func webAddress() throws(SettingError) -> String {
        guard !text.contains(where: { "?#@".contains($0) }), let url = try? SourceURL(parsing: text),
            url.scheme != .local
        else { throw refused("an absolute http or https URL without user, query and fragment") }
        var address = url.canonical
        while address.hasSuffix("/") { address.removeLast() }
        return address
    }

    func network() throws(SettingError) -> CIDR {
        do {
            return try CIDR(parsing: text)
        } catch {
            throw SettingError("\(spelling): \(error)")
        }
    }

    /// `20/s`, `600/m`, `1000/h`.
    func rate() throws(SettingError) -> Rate {
        guard let rate = Rate(text) else { throw refused("a rate of 1 to 1000000 such as 20/s, 600/m or 1000/h") }
        return rate
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
