#if !canImport(Darwin)
public import Foundation

// The folders of Foundation's URL that Linux lacks. Each is disfavoured: if Foundation has it, too, the
// compiler takes Foundation's, and this one is never called.
extension URL {
  /// The user's folder for data of programs: `$XDG_DATA_HOME`, or `~/.local/share`.
  @_disfavoredOverload
  public static var applicationSupportDirectory: URL { folder(.applicationSupportDirectory) }

  /// The user's folder for documents: `~/Documents`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var documentsDirectory: URL { folder(.documentDirectory) }

  /// The user's folder for recreatable data: `$XDG_CACHE_HOME`, or `~/.cache`.
  @_disfavoredOverload
  public static var cachesDirectory: URL { folder(.cachesDirectory) }

  /// The folder that contains ``applicationSupportDirectory``, since Linux has none with this name.
  @_disfavoredOverload
  public static var libraryDirectory: URL {
    applicationSupportDirectory.deletingLastPathComponent()
  }

  /// The user's desktop: `~/Desktop`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var desktopDirectory: URL { folder(.desktopDirectory) }
  /// The user's folder for downloads: `~/Downloads`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var downloadsDirectory: URL { folder(.downloadsDirectory) }
  /// The user's folder for videos: `~/Videos`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var moviesDirectory: URL { folder(.moviesDirectory) }
  /// The user's folder for music: `~/Music`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var musicDirectory: URL { folder(.musicDirectory) }
  /// The user's folder for pictures: `~/Pictures`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var picturesDirectory: URL { folder(.picturesDirectory) }
  /// The user's shared folder: `~/Public`, or what `user-dirs.dirs` names.
  @_disfavoredOverload
  public static var sharedPublicDirectory: URL { folder(.sharedPublicDirectory) }
  /// The user's trash.
  @_disfavoredOverload
  public static var trashDirectory: URL { folder(.trashDirectory) }

  /// A folder of the user; the home folder, if the system has none of the kind.
  private static func folder(_ directory: FileManager.SearchPathDirectory) -> URL {
    FileManager.default.urls(for: directory, in: .userDomainMask).first ?? homeDirectory
  }
}

extension FileManager {
  /// A folder shared by the programs of a group: `application-groups/IDENTIFIER` in the user's data folder,
  /// created if it is missing.
  ///
  /// Other programs of the user are not kept out of it.
  ///
  /// - Parameter groupIdentifier: The group's name, which must be the name of a folder.
  /// - Returns: The folder; `nil` if the name is invalid, or the folder cannot be created.
  @_disfavoredOverload
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    guard !groupIdentifier.isEmpty, ![".", ".."].contains(groupIdentifier),
      !groupIdentifier.contains("/"), !groupIdentifier.utf8.contains(0)
    else { return nil }
    let folder = URL.applicationSupportDirectory
      .appending(path: "application-groups", directoryHint: .isDirectory)
      .appending(path: groupIdentifier, directoryHint: .isDirectory)
    do {
      try createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      return nil
    }
    return folder
  }
}

/// The seconds since the beginning of 2001.
@_disfavoredOverload
public func CFAbsoluteTimeGetCurrent() -> Double { Date.timeIntervalSinceReferenceDate }
#endif
