import ArgumentParser
import DarkroomQuery
import DarkroomTransforms
import Foundation
import NIOCore

/// `darkroom transform`
struct TransformFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transform", abstract: "Transform an image file.",
        usage: "darkroom transform IN OUT [--w 400] [--fit cover] [--output webp] ...",
        discussion: """
            Accepts every parameter of GET /image except url: --w 400 is w=400, --flip is flip. Without --output, the \
            extension of OUT selects the format. A dash stands for standard input or output.
            """)

    @Argument(parsing: .captureForPassthrough, help: "IN, OUT and parameters.") var words: [String] = []

    func validate() throws {
        guard !words.contains("--help"), !words.contains("-h") else { throw CleanExit.helpRequest(self) }
        guard Self.sorted(words).paths.count == 2 else { throw ValidationError("Expected two paths, IN and OUT.") }
    }

    func run() throws {
        let (paths, parameters) = Self.sorted(words)
        do {
            try transform(from: paths[0], to: paths[1], parameters)
        } catch let error as InvalidParameter {
            throw Self.failure(error.detail)
        } catch let error as ImageProcessingError {
            throw Self.failure(error.sentence)
        } catch let error as CocoaError {
            throw Self.failure(error.sentence)
        }
    }

    private static func failure(_ sentence: String) -> ExitCode {
        StandardError.write(sentence)
        return .failure
    }

    private func transform(from source: String, to target: String, _ given: [(name: String, value: String?)]) throws {
        var parameters = given
        let suffix = URL(fileURLWithPath: target).pathExtension
        if !suffix.isEmpty, !given.contains(where: { $0.name == "output" }) { parameters.append(("output", suffix)) }
        let query = try FileQuery(parameters)
        let bytes =
            source == "-"
            ? FileHandle.standardInput.readDataToEndOfFile() : try Data(contentsOf: URL(fileURLWithPath: source))
        let job = ImageJob(
            source: ByteBuffer(bytes: bytes), pages: query.pages,
            chain: TransformChain(query.recipe, limits: PixelLimits()),
            resampling: query.recipe.resampling, output: query.output)
        let image = try InProcessImageProcessor().process(job) { false }
        let result = Data(image.body.readableBytesView)
        if target == "-" {
            FileHandle.standardOutput.write(result)
        } else {
            try result.write(to: URL(fileURLWithPath: target), options: .atomic)
        }
    }

    /// Splits words into paths and parameters: `--name value`, `--name=value` or `--name`.
    static func sorted(_ words: [String]) -> (paths: [String], parameters: [(name: String, value: String?)]) {
        var paths: [String] = []
        var parameters: [(name: String, value: String?)] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                paths.append(word)
                continue
            }
            let halves = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
            let name = halves.first ?? ""
            if halves.count == 2 {
                parameters.append((name, halves[1]))
            } else if let value = rest.first, !value.hasPrefix("--"), FileQuery.isValue(value, of: name) {
                parameters.append((name, value))
                rest = rest.dropFirst()
            } else {
                parameters.append((name, nil))
            }
        }
        return (paths, parameters)
    }
}

extension CocoaError {
    /// The error as a message of the command line.
    fileprivate var sentence: String {
        let reason = (underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
        return "\(filePath ?? "the file") cannot be read or written: \(reason ?? localizedDescription)"
    }
}

extension ImageProcessingError {
    /// The error as a message of the command line.
    fileprivate var sentence: String {
        switch self {
        case .unsupported: "The input is not an image in a supported format."
        case .corrupt(let reason): "The input is corrupt or truncated (\(reason))."
        case .tooLarge(let reason): reason
        case .badParameter(let error): "\(error.parameter): \(error.reason)."
        case .interrupted: "Processing was interrupted."
        case .transformFailed(let reason), .encodingFailed(let reason): "Processing failed (\(reason))."
        case .mark(let error): "The mark failed. \(error.sentence)"
        }
    }
}
