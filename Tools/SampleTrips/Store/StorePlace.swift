import Foundation
import Terminal

/// The place of a run's store, and whether it is removed when the run is over.
struct StorePlace {
  private let kind: StoreKind
  /// A path, or a connection string of libpq.
  let location: String
  /// The folder made for this run alone, to be removed with all that is in it.
  private let temporaryFolder: URL?

  /// Finds the place of a store.
  ///
  /// - Parameters:
  ///   - kind: A log store is a folder, an archive is one file, and a server has an address.
  ///   - path: The place at which the user wants to keep the store, or `nil` for a temporary one.
  /// - Throws: ``ToolError`` if no store of the kind can be made or opened there.
  init(kind: StoreKind, path: String?) throws {
    self.kind = kind
    if kind == .postgres {
      location = try Self.address(path)
      temporaryFolder = nil
    } else if let path {
      location = path
      temporaryFolder = nil
      try checkParent()
      try checkShape(kind)
    } else {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("SampleTrips-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      temporaryFolder = folder
      location = folder.appendingPathComponent(kind == .json ? "trips.json" : "trips.store").path
    }
  }

  /// The file or folder of a store that is one.
  var url: URL { URL(fileURLWithPath: location) }

  /// The name of the place in messages: never an address, which may contain a password.
  var name: String {
    kind == .postgres ? "the schema \(StoreSetup.namespace) of the server" : url.path
  }

  private static func address(_ address: String?) throws(ToolError) -> String {
    guard StoreKind.hasPostgres else {
      throw ToolError(
        "this build knows no servers",
        expected: "a build with the trait PostgreSQL, and libpq",
        advice: "Tools/run --store postgres, or swift run --traits PostgreSQL SampleTrips"
      )
    }
    guard let address else {
      throw ToolError(
        "a store on a server has no place of its own",
        expected: "--url with the address of a database, for libpq",
        found: "none",
        advice: "--url postgresql://user@host/database"
      )
    }
    return address
  }

  func removeIfTemporary() {
    guard let temporaryFolder else { return }
    // A folder that cannot be removed is left to the system: the run itself was fine.
    try? FileManager.default.removeItem(at: temporaryFolder)
  }

  /// The bytes of the store's file; none if it is not there.
  func fileSize() throws -> Int {
    guard FileManager.default.fileExists(atPath: url.path) else { return 0 }
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return attributes[.size] as? Int ?? 0
  }

  /// The folder around the store must be there: to make it would hide a mistyped path.
  private func checkParent() throws(ToolError) {
    let parent = url.deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder)
    guard exists, isFolder.boolValue, FileManager.default.isWritableFile(atPath: parent) else {
      throw ToolError(
        "the store cannot be made there",
        place: url.path,
        expected: "a folder that can be written at \(parent)",
        found: !exists ? "nothing" : isFolder.boolValue ? "a folder without permission" : "a file",
        advice: "make the folder, or give another --url"
      )
    }
  }

  private func checkShape(_ kind: StoreKind) throws(ToolError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else { return }
    guard isFolder.boolValue == (kind == .log) else {
      throw ToolError(
        "the path is not a store of this kind",
        place: url.path,
        expected: kind == .log ? "the folder of a log store" : "the file of a JSON archive",
        found: isFolder.boolValue ? "a folder" : "a file",
        advice: "give the --store it was made with, or another --url"
      )
    }
  }
}
