package import Foundation

/// A configuration of a store in a folder, which no other configuration of the container may use.
package protocol FolderConfiguring: DataStoreConfiguration {
  /// The folder; `nil` for a store without one.
  var folder: URL? { get }
}

/// The folders of a container's stores: no two are one, and none lies in another.
struct StoreFolders {
  private var folders: [(path: String, given: String)] = []

  /// Adds the folder of a configuration, if it has one.
  ///
  /// Of two names of one place, some links are told apart only once there is something.
  ///
  /// - Throws: ``SwiftDataError/duplicateConfiguration`` if it is that of another, or one of both lies in the other.
  mutating func add(_ configuration: any DataStoreConfiguration) throws(SwiftDataError) {
    guard let path = StoreFolders.path(of: configuration) else { return }
    let given = (configuration as? any FolderConfiguring)?.folder?.path ?? path
    for other in folders {
      if path == other.path { throw .duplicateConfiguration(at: given) }
      if FolderPath.lies(path, in: other.path) {
        throw .nestedConfigurations(given, in: other.given)
      }
      if FolderPath.lies(other.path, in: path) {
        throw .nestedConfigurations(other.given, in: given)
      }
    }
    folders.append((path, given))
  }

  /// The path of a configuration's folder, without links; `nil` if it has none.
  static func path(of configuration: any DataStoreConfiguration) -> String? {
    (configuration as? any FolderConfiguring)?.folder.map { FolderPath.resolved($0) }
  }
}

/// Paths of folders that there may not be yet.
package enum FolderPath {
  /// The path without symbolic links, as far as there is something in it.
  package static func resolved(_ url: URL) -> String {
    resolved(url.standardizedFileURL.path)
  }

  private static func resolved(_ path: String) -> String {
    // The end that does not exist yet, a slash before each name.
    var rest = ""
    var depth = 0
    var known = path[...]
    while true {
      if let real = unsafe realpath(String(known), nil) {
        defer { unsafe free(real) }
        let root = unsafe String(cString: real)
        return root == "/" && !rest.isEmpty ? rest : root + rest
      }
      guard let slash = known.lastIndex(of: "/") else { return path }
      rest = String(known[slash...]) + rest
      known = slash == known.startIndex ? "/" : known[..<slash]
      depth += 1
      if depth > 4096 { return path }
    }
  }

  /// Whether a folder is somewhere in another; both without links.
  static func lies(_ path: String, in folder: String) -> Bool {
    path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/") && path != folder
  }
}
