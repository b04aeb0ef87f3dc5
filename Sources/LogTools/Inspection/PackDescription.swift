import LogEngine
public import LogFormat

/// A pack, as its first and last bytes describe it.
public struct PackDescription: Hashable, Sendable {
  /// The number of the pack.
  public let pack: PackID
  /// The pack's file.
  public let path: String
  /// The size of its file, in bytes.
  public let fileByteCount: Int
  /// Whether the current manifest names it; any other pack is of a compaction that did not come to its
  /// end, or is about to be removed.
  public let isNamed: Bool
  /// The content; `nil` if it cannot be read.
  public let content: Content?
  /// The reason why the pack cannot be read.
  public let damage: StorageError?

  /// The content of a pack, except for its rows.
  public struct Content: Hashable, Sendable {
    /// The commits whose rows were packed: the first and the last.
    public let firstCommit: CommitSequence
    /// The last commit whose rows were packed.
    public let lastCommit: CommitSequence
    /// Number of rows in the pack, live or not.
    public let rowCount: Int
    /// Number of blocks of the rows.
    public let blockCount: Int
    /// The size that the rows would have in the log, in bytes.
    public let recordByteCount: Int
    /// The time at which it was made, in microseconds since 1970-01-01T00:00:00Z.
    public let created: Int64

    init(_ pack: PackReader) {
      (firstCommit, lastCommit) = pack.sequences
      rowCount = pack.summary.rowCount
      blockCount = pack.summary.blockCount
      recordByteCount = pack.footer.tables.reduce(0) { $0 + $1.recordByteCount }
      created = pack.header.created
    }
  }
}

extension StoreInspection {
  /// The packs there are, by ascending number.
  ///
  /// - Throws: ``/LogFormat/StorageError/inputOutput(path:operation:errno:)`` if their directory cannot be read. Damage
  ///   is part of the description; the rows are not looked at.
  public func packs() throws(StorageError) -> [PackDescription] {
    let manifests = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    let manifest = try? manifests.readNewest()
    let named = Set((manifest?.base?.packs ?? []).map(\.id))
    var found: [PackDescription] = []
    for id in try PackID.numbers(paths, fileSystem) {
      let path = paths.pack(id)
      var content: PackDescription.Content?
      var damage: StorageError?
      do throws(StorageError) {
        let file = try Self.readHeader(ofPackAt: path, fileSystem)
        let store = manifest?.store ?? file.store
        let pack = try PackReader.open(path, on: fileSystem, pack: id, of: store, reads: .copied)
        content = PackDescription.Content(pack)
      } catch .missingFile {
        continue  // A compaction has just replaced it.
      } catch {
        damage = error
      }
      found.append(
        PackDescription(
          pack: id,
          path: path,
          fileByteCount: try fileSystem.size(of: path) ?? 0,
          isNamed: named.contains(id),
          content: content,
          damage: damage
        )
      )
    }
    return found
  }

  private static func readHeader(
    ofPackAt path: String,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> FileHeader {
    let bytes = try fileSystem.open(path, .read).readBytes(FileHeader.byteCount, at: 0)
    return try FileHeader(decoding: bytes.bytes, .pack, path: path)
  }
}
