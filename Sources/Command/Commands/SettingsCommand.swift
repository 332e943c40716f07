import ArgumentParser
import Foundation

/// A command that takes every setting as a flag.
///
/// Flags come from the table of settings instead of one property each.
protocol SettingsCommand: ParsableCommand {
    /// Everything after the command's name.
    var arguments: [String] { get }
    /// The names of flags that are no settings.
    static var ownFlags: Set<String> { get }
}

extension SettingsCommand {
    static var ownFlags: Set<String> { [] }

    func validate() throws {
        guard !arguments.contains("--help"), !arguments.contains("-h") else { throw CleanExit.helpRequest(self) }
        guard !arguments.contains("--version") else { throw CleanExit.message(Darkroom.release) }
        _ = try flags()
    }

    /// Throws for what is no flag of this command, with the nearest name.
    func flags() throws(ValidationError) -> SettingFlags { try SettingFlags(arguments, besides: Self.ownFlags) }
}

extension SettingSources {
    /// What flags, the environment of this process and a file give.
    init(_ flags: SettingFlags) throws(SettingError) {
        try self.init(
            flags: flags.values, environment: ProcessInfo.processInfo.environment, file: flags.config)
    }
}

extension SettingError {
    /// Reports each mistake on standard error.
    /// - Returns: the exit status for it.
    func report() -> ExitCode {
        for sentence in sentences { StandardError.write(sentence) }
        return ExitCode(EX_CONFIG)
    }
}
