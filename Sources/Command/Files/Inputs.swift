import Foundation

/// What a command line names as inputs.
struct Inputs: Sendable {
    /// A folder whose images are inputs: all of them, or those that match a pattern.
    struct Folder: Sendable {
        /// As it was given; empty = the current folder.
        let path: String
        /// The pattern, and how it was spelled.
        var pattern: (matcher: PathPattern, text: String)?
    }

    private(set) var files: [String] = []
    private(set) var folders: [Folder] = []
    /// Inputs that do not exist.
    private(set) var missing: [FileError] = []

    /// Looks at each path. One of no file that contains a wildcard is a pattern.
    init(_ paths: [String]) {
        for path in paths {
            do throws(FileError) {
                if try FileStatus(of: path).kind == .folder {
                    folders.append(Folder(path: path))
                } else {
                    files.append(path)
                }
            } catch {
                if let pattern = PathPattern(path) {
                    folders.append(Folder(path: pattern.base, pattern: (pattern, path)))
                } else {
                    missing.append(error)
                }
            }
        }
    }
}

/// A source image, and where its result goes.
struct InputFile: Hashable, Sendable {
    let source: String
    let target: String
    /// Whether the command line names the file itself, which must then be an image.
    let isNamed: Bool

    /// The last component of the source's path.
    var name: String { PathParts(source).name }
}

/// Why a file is left out.
enum SkipReason: String, CaseIterable, Sendable {
    /// Its result exists.
    case exists
    case notAnImage = "not-an-image"
    /// It is a link to a folder. Such links are not followed, so that they cannot form a loop.
    case linkToFolder = "link-to-folder"
}

/// One step of an ``InputWalk``.
enum InputEntry: Hashable, Sendable {
    case file(InputFile)
    case failed(path: String, sentence: String)
    case skipped(path: String, SkipReason)
    case conflict(InputConflict)
}

/// Inputs whose results would take the place of other files.
enum InputConflict: Hashable, Sendable {
    case sameResult(sources: [String], target: String)
    case ownSource(String)
    case insideInput(source: String, target: String, folder: String)

    /// The conflict as a sentence that says what to do.
    var sentence: String {
        switch self {
        case .sameResult(let sources, let target):
            """
            \(sources.joined(separator: " and ")) have the same result, \(target). Rename them, or transform them \
            into different folders.
            """
        case .ownSource(let path): "The result of \(path) would replace it. Choose another folder for the results."
        case .insideInput(let source, let target, let folder):
            """
            The result of \(source) would be \(target), inside of the input \(folder). Choose another folder for the \
            results.
            """
        }
    }
}

/// The two parts of a path. A slash is a byte: behind it, a name may begin with a character that combines with it.
struct PathParts {
    /// With the slash at its end; empty if there is none.
    let folder: String
    let name: String

    init(_ path: String) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let start = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
        folder = String(path[..<start])
        name = String(path[start...])
    }
}

/// Joins two paths, either of which may be empty.
func joined(_ folder: String, _ name: String) -> String {
    folder.isEmpty || name.isEmpty || folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
}
