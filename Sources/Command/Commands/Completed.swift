import ArgumentParser
import DarkroomQuery

/// A command as completion scripts show it: with an option for each setting or parameter that it takes. The parser has
/// none of these, because they come from tables. ArgumentParser finds the options of a command by reflection.
struct Completed<Command: ParsableCommand>: ParsableCommand, CustomReflectable {
    static var configuration: CommandConfiguration {
        var configuration = Command.configuration
        configuration.commandName = Command._commandName
        configuration.subcommands = configuration.subcommands.map { completed($0) }
        return configuration
    }

    private static func completed<Subcommand: ParsableCommand>(
        _ command: Subcommand.Type
    ) -> any ParsableCommand.Type {
        Completed<Subcommand>.self
    }

    init() {}

    /// ArgumentParser checks that there is a key for each option. Nothing is decoded, since this command never runs.
    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }

    var customMirror: Mirror {
        let options: [Mirror.Child] =
            if let command = Command.self as? any SettingsCommand.Type {
                settings(of: command)
            } else if Command.self == TransformFiles.self {
                parameters
            } else {
                Array(Mirror(reflecting: Command()).children)
            }
        return Mirror(self, children: options)
    }

    private func settings(of command: any SettingsCommand.Type) -> [Mirror.Child] {
        let settings = SettingsTable.rows.map { row in
            let words = row.placeholder.split(separator: "|").map(String.init)
            return option(
                row.name, row.help,
                row.placeholder == "PATH" ? .file() : words.count > 1 ? .list(words) : nil)
        }
        return [option("config", "YAML file of settings.", .file())]
            + command.ownFlags.sorted().map { option($0, "", nil) } + settings
    }

    private var parameters: [Mirror.Child] {
        let parameters = FileQuery.parameters.map { name, summary, schema in
            switch schema {
            case .boolean: flag(name, summary)
            case .choice(let names, _): option(name, summary, .list(names))
            default: option(name, summary, nil)
            }
        }
        let own: [Mirror.Child] = [
            flag("overwrite", "Replace existing files."), ("_paths", Argument<[String]>(completion: .file())),
        ]
        return own + parameters
    }

    private func option(_ name: String, _ help: String, _ completion: CompletionKind?) -> Mirror.Child {
        ("_" + name, Option<String>(name: .customLong(name), help: line(help), completion: completion))
    }

    private func flag(_ name: String, _ help: String) -> Mirror.Child {
        ("_" + name, Flag<Bool>(wrappedValue: false, name: .customLong(name), help: line(help)))
    }

    /// Shells show one line for each option.
    private func line(_ help: String) -> ArgumentHelp {
        ArgumentHelp(help.firstRange(of: ". ").map { String(help[..<$0.lowerBound]) + "." } ?? help)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension Darkroom {
    /// The completion script that the arguments ask for; nil if they ask for none, or for an unknown shell.
    static func completionScript(_ arguments: [String]) -> String? {
        guard arguments.first == "--generate-completion-script" else { return nil }
        let shell = arguments.count > 1 ? CompletionShell(rawValue: arguments[1]) : .autodetected()
        return shell.map { Completed<Darkroom>.completionScript(for: $0) }
    }
}
