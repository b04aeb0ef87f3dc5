import Foundation
import LogEngine
import LogTools

/// A store in a folder that also holds what is none of the store's, for somebody to point the store at.
final class HostileStore {
  let folder: String
  let path: String
  /// A folder outside of the store.
  let victim: String

  /// Makes a store with rows, a checkpoint, packs and segments, and closes it.
  init() throws {
    folder =
      FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID().uuidString)").path
    path = folder + "/s.store"
    victim = folder + "/victim"
    for directory in [folder, victim, victim + "/log", victim + "/blobs"] {
      try FileManager.default.createDirectory(
        atPath: directory,
        withIntermediateDirectories: false
      )
    }
    for name in ["letter.txt", "manifest", "log/0000000000000001.seg", "log/photo.jpg"] {
      try Data("precious".utf8).write(to: URL(filePath: victim + "/" + name))
    }
    let store = try SmallStore(at: path)
    for round in 0..<20 { try store.insert([(Int64(round), String(repeating: "x", count: 4000))]) }
    try store.engine?.compact()
    for round in 0..<20 { try store.insert([(Int64(round), String(repeating: "y", count: 4000))]) }
    try store.close()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// What is outside of the store, by name.
  func precious() throws -> [String: String] {
    var found: [String: String] = [:]
    let names = FileManager.default.enumerator(atPath: victim)?.allObjects as? [String] ?? []
    for name in names {
      found[name] = (try? String(contentsOfFile: victim + "/" + name, encoding: .utf8)) ?? "-"
    }
    return found
  }

  /// Puts a link in a name's place, and what had the name aside.
  func link(_ name: String, to target: String) throws {
    let place = path + "/" + name
    if FileManager.default.fileExists(atPath: place) {
      try FileManager.default.moveItem(atPath: place, toPath: folder + "/aside")
    }
    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: target)
  }

  /// The names in one of the store's directories, ascending.
  func names(in directory: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path + "/" + directory))?.sorted() ?? []
  }

  func mode(of name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: name)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  /// Every file and folder of a store with its mode.
  static func modes(under path: String) throws -> [String: Int] {
    var modes: [String: Int] = [:]
    let names = FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []
    for name in names + ["."] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
      modes[name] = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
    return modes
  }
}

/// Something one can do with a store that another made.
enum StoreCommand: String, CaseIterable {
  case open, follow, compact, verify, salvage, backup, inspect

  /// Does it to its end; what comes of it is an error or none.
  func run(on path: String, aside: String) throws {
    var options = EngineOptions()
    options.missingStore = .fail
    switch self {
    case .open: try StorageEngine.open(at: path, options: options).close()
    case .follow:
      options.mode = .readOnly
      let engine = try StorageEngine.open(at: path, options: options)
      try engine.scan(1) { _, _, _ in .proceed }
      try engine.close()
    case .compact:
      let engine = try StorageEngine.open(at: path, options: options)
      try engine.compact()
      try engine.close()
    case .verify:
      let report = try StorageEngine.verify(at: path)
      if let problem = report.problems.first(where: { $0.severity == .damage }) {
        throw VerificationFailure(problem: problem)
      }
    case .salvage: _ = try StorageEngine.salvage(at: path, to: aside)
    case .backup:
      options.mode = .readOnly
      try StorageEngine.open(at: path, options: options).backup(to: aside)
    case .inspect:
      let inspection = StoreInspection(at: path)
      _ = try inspection.manifests()
      _ = try inspection.segments()
    }
  }

  struct VerificationFailure: Error { let problem: VerificationProblem }
}
