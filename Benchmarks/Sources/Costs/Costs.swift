import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore

/// Measures one job against the cost that its plan declares, in a process of its own.
///
/// `costs list` prints the names of all steps and outputs, one on each line. `costs run FILE WIDTH OUTPUT MARK ROUNDS
/// [STEP...]` runs a job ROUNDS times and prints a line of JSON: predicted and measured milliseconds and bytes. WIDTH 0
/// leaves the size as it is, MARK is a file, or `-`, and without rounds the job is only planned.
@main
enum Costs {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "list" where arguments.count == 1: list()
        case "run" where arguments.count >= 6: try run(Array(arguments.dropFirst()))
        default:
            FileHandle.standardError.write(
                Data("usage: costs list | costs run FILE WIDTH OUTPUT MARK ROUNDS [STEP...]\n".utf8))
            exit(64)
        }
    }

    private static func list() {
        for step in Steps.all { print("step\t\(step.name)") }
        for output in Outputs.all { print("output\t\(output.name)") }
    }

    private static func run(_ arguments: [String]) throws {
        guard let width = Int(arguments[1]), let output = Outputs.named(arguments[2]), let rounds = Int(arguments[4])
        else { throw UnknownName(name: arguments.joined(separator: " ")) }
        var recipe = Recipe()
        if width > 0 { recipe.box = Box(width: width, height: nil) }
        for name in arguments.dropFirst(5) {
            guard let step = Steps.named(name) else { throw UnknownName(name: name) }
            step.change(&recipe)
        }
        let mark = arguments[3] == "-" ? nil : arguments[3]
        let measurement = try Measurement(
            of: Order(source: arguments[0], mark: mark, recipe: recipe, output: output), rounds: rounds)
        print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
    }
}

/// A name that neither `Steps` nor `Outputs` has.
struct UnknownName: Error {
    var name: String
}
