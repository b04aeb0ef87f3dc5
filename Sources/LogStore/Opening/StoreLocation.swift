import Foundation
import LogEngine
import ModelRuntime

/// The place of a store, checked before anything is made there.
enum StoreLocation {
  /// Checks that a file system can have a folder of this name.
  static func validate(_ url: URL, name: String) throws {
    guard url.isFileURL else {
      throw SwiftDataError.loadIssueModelContainer.explained(
        "configuration \"\(name)\": expected the URL of a folder, found \(url.absoluteString)"
      )
    }
    let file = url.lastPathComponent
    guard file.utf8.count <= 255 else {
      throw SwiftDataError.configurationFileNameTooLong.explained(
        "configuration \"\(name)\": the folder's name has \(file.utf8.count) bytes, at most 255 are possible"
      )
    }
    guard !file.isEmpty, !file.utf8.contains(0) else {
      throw SwiftDataError.configurationFileNameContainsInvalidCharacters.explained(
        "configuration \"\(name)\": \"\(file)\" cannot be the name of a folder"
      )
    }
  }

  /// Makes the folders above a store, as a user expects of a path that was given in full.
  ///
  /// They get the permissions of the store, for which alone they are made.
  static func makeParents(of url: URL, _ permissions: StorePermissions) throws {
    let parent = url.absoluteURL.deletingLastPathComponent().path
    let fileSystem = PosixFileSystem().making(permissions)
    var path = ""
    do throws(StorageError) {
      for part in parent.split(separator: "/") {
        path += "/" + part
        if !FileManager.default.fileExists(atPath: path) { try fileSystem.makeDirectory(path) }
      }
    } catch {
      throw LogStoreError.location(
        url.path,
        reason: "its folder \(path) cannot be made: \(error.words)"
      )
    }
  }

  /// Checks that the folders above a store are there, or can be made.
  ///
  /// - Throws: ``LogStoreError/location(_:reason:)`` if something else is in the way, or nothing can be made there.
  static func checkParents(of url: URL) throws {
    var folder = url.standardizedFileURL.deletingLastPathComponent()
    var isFolder: ObjCBool = false
    while folder.path != "/",
      unsafe !FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder)
    {
      folder.deleteLastPathComponent()
      isFolder = true
    }
    if isFolder.boolValue, FileManager.default.isWritableFile(atPath: folder.path) { return }
    throw LogStoreError.location(
      url.path,
      reason: "it cannot be made in \(folder.path), which is "
        + (isFolder.boolValue ? "not writable" : "not a folder")
    )
  }
}
