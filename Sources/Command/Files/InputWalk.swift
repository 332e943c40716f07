import Foundation

/// The inputs of a command, folder by folder, without hidden files and without the folder of the results.
///
/// All inputs are walked in parallel: inputs with results in the same folder are visited together, so that conflicts
/// are found with the names of only one folder in memory, however large the tree is.
struct InputWalk: Sendable {
    /// An input folder at some depth, and what of it a pattern has matched so far.
    private struct Branch: Sendable {
        let input: Int
        let position: PathPattern.Position
    }

    private struct Candidate {
        let source: String
        let target: String
        let isNamed: Bool
        /// Whether the result would take the place of the source.
        let isOwnTarget: Bool
    }

    private let inputs: Inputs
    private let names: ResultName
    private let folder: String
    /// Nil if the folder does not exist yet.
    private let folderStatus: FileStatus?
    /// The inputs inside of the folder of results, each with its path below it.
    private let innerInputs: [(input: String, path: String)]
    /// For each path below the inputs, the folders of all inputs that have it.
    private var levels: [(path: String, branches: [Branch])]
    /// The next entry is the last.
    private var entries: [InputEntry] = []
    /// Input folders in which a file was found.
    private var matched: Set<Int> = []
    private var hasReportedPatterns = false

    init(_ inputs: Inputs, into folder: String, names: ResultName) {
        self.inputs = inputs
        self.names = names
        self.folder = folder
        folderStatus = try? FileStatus(of: folder)
        innerInputs = Self.innerInputs(inputs, of: folder)
        let branches = inputs.folders.enumerated().map { index, input in
            Branch(input: index, position: input.pattern?.matcher.start ?? [])
        }
        levels = [("", branches)]
        entries = inputs.missing.reversed().map { .failed(path: $0.path, sentence: $0.sentence) }
    }

    /// The next entry; nil at the end.
    mutating func next() -> InputEntry? {
        while true {
            if let entry = entries.popLast() { return entry }
            if let level = levels.popLast() {
                open(level.branches, at: level.path)
            } else {
                guard !hasReportedPatterns else { return nil }
                hasReportedPatterns = true
                for (index, input) in inputs.folders.enumerated().reversed() where !matched.contains(index) {
                    guard let pattern = input.pattern?.text else { continue }
                    entries.append(.failed(path: pattern, sentence: "\(pattern) matches no file."))
                }
            }
        }
    }

    // MARK: Folders

    private mutating func open(_ branches: [Branch], at level: String) {
        var found: [InputEntry] = []
        var candidates = level.isEmpty ? namedFiles() : []
        var folders: [String: [Branch]] = [:]
        for branch in branches {
            let path = joined(inputs.folders[branch.input].path, level)
            let isResultFolder = isFolderOfResults(path, at: level)
            do throws(FileError) {
                for entry in try FolderEntry.all(in: path) {
                    guard sort(entry, in: path, branch, &found, &folders) else { continue }
                    let target = names.name(for: entry.name)
                    candidates.append(
                        Candidate(
                            source: joined(path, entry.name), target: joined(level, target), isNamed: false,
                            isOwnTarget: isResultFolder && target == entry.name))
                }
            } catch {
                found.append(.failed(path: path, sentence: error.sentence))
            }
        }
        levels += folders.sorted { $0.key > $1.key }.map { (joined(level, $0.key), $0.value) }
        entries = (found + resolved(candidates, at: level)).reversed()
    }

    /// Classifies one name in a folder. Returns whether it is a file to transform.
    private mutating func sort(
        _ entry: FolderEntry, in folder: String, _ branch: Branch, _ found: inout [InputEntry],
        _ folders: inout [String: [Branch]]
    ) -> Bool {
        let path = joined(folder, entry.name)
        guard entry.isText else {
            found.append(.failed(path: path, sentence: "\(path) has a name that is not UTF-8 text; rename it."))
            return false
        }
        let pattern = inputs.folders[branch.input].pattern?.matcher
        let position = pattern?.advanced(branch.position, by: entry.name) ?? []
        let isMatch = pattern?.isMatch(position) ?? true
        switch kind(of: entry, at: path) {
        case .folder:
            guard pattern?.continues(position) ?? true,
                folderStatus == nil || (try? FileStatus(of: path)) != folderStatus
            else { return false }
            folders[entry.name, default: []].append(Branch(input: branch.input, position: position))
        case .file where isMatch:
            matched.insert(branch.input)
            return true
        case .link where isMatch: found.append(.skipped(path: path, .linkToFolder))
        case .special where isMatch: found.append(.skipped(path: path, .notAnImage))
        case .file, .link, .special: break
        }
        return false
    }

    /// The kind of an entry. A link to a file is a file; a link to nothing is special.
    private func kind(of entry: FolderEntry, at path: String) -> FileStatus.Kind {
        guard entry.kind == .link else { return entry.kind }
        switch try? FileStatus(of: path).kind {
        case .file: return .file
        case .folder: return .link
        case .link, .special, nil: return .special
        }
    }

    private func namedFiles() -> [Candidate] {
        inputs.files.map { source in
            let name = PathParts(source).name
            let target = names.name(for: name)
            return Candidate(
                source: source, target: target, isNamed: true,
                isOwnTarget: target == name && isFolderOfResults(PathParts(source).folder, at: ""))
        }
    }

    /// Whether an input folder is where its own results go.
    private func isFolderOfResults(_ path: String, at level: String) -> Bool {
        guard folderStatus != nil, let target = try? FileStatus(of: joined(folder, level)) else { return false }
        return (try? FileStatus(of: path.isEmpty ? "." : path)) == target
    }

    // MARK: Conflicts

    /// The candidates of one folder of results as entries, in the order of the results' names.
    private func resolved(_ candidates: [Candidate], at level: String) -> [InputEntry] {
        let inner = innerInputs.first { level == $0.path || level.hasPrefix("\($0.path)/") }
        let groups = Dictionary(grouping: candidates, by: \.target).sorted { $0.key < $1.key }
        return groups.flatMap { _, group -> [InputEntry] in
            var rest = Self.distinct(group.sorted { $0.source < $1.source })
            var entries: [InputEntry] = []
            // Only now it matters whether the files are images: `a.jpg` often has an `a.txt` beside it.
            let images = rest.count > 1 ? rest.filter { SourceFile.isImage($0.source) } : []
            if images.count > 1 {
                let sources = images.map(\.source)
                entries = [.conflict(.sameResult(sources: sources, target: joined(folder, images[0].target)))]
                rest.removeAll { sources.contains($0.source) }
            }
            return entries
                + rest.map { candidate in
                    let source = candidate.source
                    let target = joined(folder, candidate.target)
                    if candidate.isOwnTarget { return .conflict(.ownSource(source)) }
                    if let inner {
                        return .conflict(.insideInput(source: source, target: target, folder: inner.input))
                    }
                    return .file(InputFile(source: source, target: target, isNamed: candidate.isNamed))
                }
        }
    }

    /// The candidates without repetitions of the same file.
    private static func distinct(_ group: [Candidate]) -> [Candidate] {
        guard group.count > 1 else { return group }
        var seen: Set<FileStatus> = []
        return group.filter { candidate in
            (try? FileStatus(of: candidate.source)).map { seen.insert($0).inserted } ?? true
        }
    }

    private static func innerInputs(_ inputs: Inputs, of folder: String) -> [(input: String, path: String)] {
        guard let outer = realPath(folder).map({ $0 == "/" ? $0 : "\($0)/" }) else { return [] }
        return inputs.folders.compactMap { input in
            guard let path = realPath(input.path.isEmpty ? "." : input.path), path.hasPrefix(outer) else { return nil }
            return (input.pattern?.text ?? input.path, String(path.dropFirst(outer.count)))
        }
    }

    /// The absolute path without symbolic links; nil if there is no such file.
    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
