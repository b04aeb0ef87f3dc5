public import LogEngine
public import LogFormat
import RowFormat

/// Shows what is in a store's files, one by one, whatever state they are in.
///
/// Needs no open store: works beside a writer, on damaged files, and behind the damage. Takes no lock and
/// writes nothing. What the files mean together, ``/LogEngine/StorageEngine`` tells.
public struct StoreInspection: Sendable {
  let paths: StorePaths
  let fileSystem: any FileSystem
  let reads: EngineOptions.ReadMethod

  /// Makes an inspection; nothing is read yet.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - fileSystem: The file system that holds the store.
  ///   - reads: The way to read bytes; ``/LogFormat/ReadMethod/copied`` for a device with media errors.
  public init(
    at path: String,
    fileSystem: any FileSystem = PosixFileSystem(),
    reads: EngineOptions.ReadMethod = .mapped
  ) {
    paths = StorePaths(root: (try? fileSystem.resolvingLink(path)) ?? path)
    self.fileSystem = fileSystem.withPublishedCopy(of: paths)
    self.reads = reads
  }

  /// The manifests there are, by ascending number: the last one counts.
  ///
  /// - Throws: ``/LogFormat/StorageError/missingStore(path:)`` if there is no such directory. Damage is part of the
  ///   description.
  public func manifests() throws(StorageError) -> [ManifestDescription] {
    guard try fileSystem.list(paths.root) != nil else { throw .missingStore(path: paths.root) }
    let files = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    var found: [ManifestDescription] = []
    for number in try files.numbers() {
      let path = paths.manifest(number)
      var content: ManifestDescription.Content?
      var damage: StorageError?
      do throws(StorageError) {
        let bytes = try fileSystem.open(path, .read).readAll()
        content = ManifestDescription.Content(try Manifest(decoding: bytes.bytes, path: path))
      } catch .missingFile {
        continue  // A writer has just replaced it.
      } catch {
        damage = error
      }
      found.append(
        ManifestDescription(
          number: number,
          path: path,
          fileByteCount: try fileSystem.size(of: path) ?? 0,
          content: content,
          damage: damage
        )
      )
    }
    return found
  }

  /// The checkpoints of the index there are, by ascending number.
  ///
  /// - Throws: ``/LogFormat/StorageError/inputOutput(path:operation:errno:)`` if their directory cannot be read. Damage
  ///   is part of the description; the pages are not looked at.
  public func checkpoints() throws(StorageError) -> [CheckpointDescription] {
    let files = CheckpointFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    var found: [CheckpointDescription] = []
    for number in try files.numbers() {
      var content: CheckpointDescription.Content?
      var damage: StorageError?
      do throws(StorageError) {
        let file = try CheckpointFile(reading: number, files)
        content = CheckpointDescription.Content(file.checkpoint)
      } catch .missingFile {
        continue  // A writer has just replaced it.
      } catch {
        damage = error
      }
      let path = paths.checkpoint(number)
      found.append(
        CheckpointDescription(
          number: number,
          path: path,
          fileByteCount: try fileSystem.size(of: path) ?? 0,
          content: content,
          damage: damage
        )
      )
    }
    return found
  }

  /// The files of the log, by ascending number.
  ///
  /// - Throws: ``/LogFormat/StorageError/missingStore(path:)`` if there is no such directory. Damage is part of the
  ///   description.
  public func segments() throws(StorageError) -> [SegmentDescription] {
    guard try fileSystem.list(paths.root) != nil else { throw .missingStore(path: paths.root) }
    var found: [SegmentDescription] = []
    var successor: SegmentHeader?
    for id in try LogFiles.numbers(paths, fileSystem).reversed() {
      do throws(StorageError) {
        let file = try SegmentFile(id, paths: paths, fileSystem: fileSystem, reads: reads)
        found.append(try describe(file, successor))
        successor = file.header ?? successor
      } catch .missingFile {
        continue
      } catch {
        found.append(
          SegmentDescription(
            segment: id,
            path: paths.segment(id),
            fileByteCount: 0,
            header: nil,
            damage: error,
            declaredEnd: nil
          )
        )
      }
    }
    return found.reversed()
  }

  private func describe(
    _ file: SegmentFile,
    _ successor: SegmentHeader?
  ) throws(StorageError) -> SegmentDescription {
    let isNext = successor?.previousSegment == file.segment.id
    let isUnfinished = successor == nil && file.isUnfinished
    return SegmentDescription(
      segment: file.segment.id,
      path: file.segment.path,
      fileByteCount: file.byteCount,
      header: file.header.map(SegmentDescription.Header.init),
      damage: isUnfinished ? nil : file.damage,
      declaredEnd: isNext ? successor?.previousEnd : nil
    )
  }
}

extension StorageEngine {
  /// Shows what is in this store's files, one by one.
  public var inspection: StoreInspection {
    StoreInspection(
      at: state.paths.root,
      fileSystem: state.fileSystem,
      reads: state.options.reads
    )
  }
}
