public import Foundation
import LogEngine
public import LogTools
import ModelRuntime

extension LogStore {
  /// Copies the store as the newest save left it, while saves and fetches continue.
  ///
  ///     try container.stores(of: LogStore.self).first?.backup(to: folder)
  ///
  /// The copy is a store of its own, with the same models under the same identifiers. Files that do not change any more
  /// are not copied where the file system can give them a second name. If several processes save, it has every save of each of
  /// them that returned before the call. Its end is read before this returns.
  ///
  /// - Parameter url: The folder of the copy, in a folder that exists; nothing may be there.
  /// - Throws: ``LogStoreError``, also if the copy does not end with the newest save; what was copied by then is removed again.
  ///   A store in memory cannot be copied.
  /// - Complexity: O(bytes of the last segment) where files can have two names, otherwise O(bytes of the store).
  public func backup(to url: URL) throws { try openTables().backup(to: url) }

  /// Reads every byte of the store, and compares what is in memory with it.
  ///
  /// - Returns: The report; ``/LogTools/VerificationReport/isSound`` says whether data is lost.
  /// - Throws: ``LogStoreError`` if the files cannot be read at all; damage is part of the report.
  /// - Complexity: O(bytes of the store); saves and fetches continue meanwhile.
  public func verify() throws -> VerificationReport { try openTables().verify() }
}

extension DefaultStore {
  /// Copies the store as the newest save left it; see ``LogStore/backup(to:)``.
  ///
  /// - Parameter url: The folder of the copy, in a folder that exists; nothing may be there.
  /// - Throws: ``LogStoreError``; one for a store in memory, which cannot be copied.
  public func backup(to url: URL) throws { try openTables().backup(to: url) }

  /// Reads every byte of the store, and compares what is in memory with it; see ``LogStore/verify()``.
  ///
  /// - Returns: The report.
  /// - Throws: ``LogStoreError`` if the files cannot be read at all; damage is part of the report.
  public func verify() throws -> VerificationReport { try openTables().verify() }
}

extension TableStore {
  fileprivate func backup(to url: URL) throws {
    guard engine.state.options.durability != .memory else {
      throw LogStoreError.location(url.path, reason: "the store to be copied is in memory")
    }
    _ = try perform(.backingUp) { try engine.backup(to: url.path) }
  }

  fileprivate func verify() throws -> VerificationReport {
    try perform(.verifying) { try engine.verify() }
  }
}
