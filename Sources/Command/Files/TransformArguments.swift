import ArgumentParser
import DarkroomQuery

/// The words after `darkroom transform`: paths, image parameters, and the flags of the command itself.
struct TransformArguments {
    /// Inputs, and the output last.
    private(set) var paths: [String] = []
    /// `--name value`, `--name=value` or `--name`.
    private(set) var parameters: [(name: String, value: String?)] = []
    /// Whether results replace existing files.
    private(set) var overwrites = false

    /// Throws unless there are an input and an output.
    init(_ words: [String]) throws(ValidationError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                paths.append(word)
                continue
            }
            guard word != "--" else {
                paths += rest
                break
            }
            let halves = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(halves[0])
            if name == "overwrite" {
                guard halves.count == 1 else { throw ValidationError("'--\(name)' takes no value.") }
                overwrites = true
            } else if halves.count == 2 {
                parameters.append((name, String(halves[1])))
            } else if let value = rest.first, !value.hasPrefix("--"), FileQuery.isValue(value, of: name) {
                parameters.append((name, value))
                rest = rest.dropFirst()
            } else {
                parameters.append((name, nil))
            }
        }
        guard paths.count < 2 else { return }
        // A parameter that does not exist takes the next word for its value, which may be the missing path.
        do throws(InvalidParameter) { _ = try FileQuery(parameters) } catch { throw ValidationError(error.detail) }
        throw ValidationError("Expected at least two paths, IN and OUT.")
    }
}
