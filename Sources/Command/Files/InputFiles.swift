import Foundation

/// A source image, and where its result goes.
struct InputFile: Sendable {
    let source: String
    let target: String
    /// Whether the command line names the file itself, which must then be an image.
    let isNamed: Bool

    /// The last component of the source's path.
    var name: String { PathParts(source).name }
}

/// The files of a command line, which names files, folders with everything below them, and patterns. Without hidden
/// files, links to folders and the folder of the results, which a folder may contain.
struct InputFiles: Sendable {
    /// In the order of the arguments, and of the names in a folder.
    private(set) var files: [InputFile] = []
    /// A sentence for each input that is missing or cannot be read.
    private(set) var failures: [String] = []
    /// A sentence for each result that would take the place of another file.
    private(set) var conflicts: [String] = []
    private var statuses: [FileStatus] = []
    /// The index of the file for each path of a result.
    private var places: [String: Int] = [:]
    private var matches = 0

    private let folder: String
    /// Nil if the folder does not exist yet.
    private let folderStatus: FileStatus?
    private let names: ResultName

    /// - Parameters:
    ///   - folder: the folder of the results, which may be missing.
    ///   - progress: receives the number of files that have been found, and returns whether to continue.
    init(_ paths: [String], into folder: String, names: ResultName, progress: (Int) -> Bool = { _ in true }) {
        self.folder = folder
        self.names = names
        folderStatus = try? FileStatus(of: folder)
        for path in paths { add(path, progress) }
        findReplacements()
    }

    /// Adds an argument. One of no file that contains a wildcard is a pattern.
    private mutating func add(_ path: String, _ progress: (Int) -> Bool) {
        do throws(FileError) {
            let status = try FileStatus(of: path)
            if status.kind == .folder {
                walk(path, [], nil, progress)
            } else {
                append(path, status, below: "", isNamed: true)
            }
        } catch {
            guard let pattern = PathPattern(path) else { return failures.append(error.sentence) }
            let earlier = matches
            walk(pattern.base, [], pattern, progress)
            if matches == earlier { failures.append("\(path) matches no file.") }
        }
    }

    /// Adds the files in a folder, which has this path below the input.
    private mutating func walk(_ input: String, _ path: [String], _ pattern: PathPattern?, _ progress: (Int) -> Bool) {
        let level = path.joined(separator: "/")
        let parent = joined(input, level)
        do throws(FileError) {
            for name in try Self.entries(of: parent.isEmpty ? "." : parent) {
                guard progress(files.count) else { return }
                let source = joined(parent, name)
                guard let status = status(of: source) else { continue }
                let below = path + [name]
                if status.kind == .folder, status != folderStatus, pattern?.descends(below.count) ?? true {
                    walk(input, below, pattern, progress)
                } else if status.kind == .file, pattern?.matches(below) ?? true {
                    matches += 1
                    append(source, status, below: level, isNamed: false)
                }
            }
        } catch {
            failures.append(error.sentence)
        }
    }

    /// What an entry of a folder is. A link to a file is that file; a link to a folder stays a link, so that links form
    /// no loop. Nil if there is nothing to read.
    private mutating func status(of path: String) -> FileStatus? {
        do throws(FileError) {
            let status = try FileStatus(of: path, followingLink: false)
            guard status.kind == .link else { return status }
            guard let target = try? FileStatus(of: path) else { return nil }
            return target.kind == .folder ? status : target
        } catch {
            failures.append(error.sentence)
            return nil
        }
    }

    private mutating func append(_ source: String, _ status: FileStatus, below level: String, isNamed: Bool) {
        let target = joined(folder, joined(level, names.name(for: PathParts(source).name)))
        guard let other = places[target] else {
            places[target] = files.count
            statuses.append(status)
            return files.append(InputFile(source: source, target: target, isNamed: isNamed))
        }
        // A file that is named twice is one input.
        guard statuses[other] != status else { return }
        conflicts.append(
            """
            \(files[other].source) and \(source) have the same result, \(target). Rename them, or transform them into \
            different folders.
            """)
    }

    /// Finds results that would replace an input.
    private mutating func findReplacements() {
        let sources = Set(statuses)
        for file in files {
            guard let status = try? FileStatus(of: file.target), sources.contains(status) else { continue }
            conflicts.append(
                "The result of \(file.source) would replace an input, \(file.target). Choose another folder for the "
                    + "results."
            )
        }
    }

    /// The names in a folder in their order, without hidden files.
    private static func entries(of folder: String) throws(FileError) -> [String] {
        guard let stream = opendir(folder) else { throw FileError(folder, .read) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.utf8.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
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
