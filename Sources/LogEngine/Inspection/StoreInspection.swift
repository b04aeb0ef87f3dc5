import RowFormat

/// Shows what is in a store's files, one by one, whatever state they are in.
///
/// Needs no open store: works beside a writer, on damaged files, and behind the damage. Takes no lock and
/// writes nothing. What the files mean together, ``StorageEngine`` tells.
public struct StoreInspection: Sendable {
  private let paths: StorePaths
  private let fileSystem: any FileSystem
  private let reads: EngineOptions.ReadMethod

  /// Makes an inspection; nothing is read yet.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - fileSystem: Where it is.
  ///   - reads: How bytes are read; ``EngineOptions/ReadMethod/copied`` for a device with media errors.
  public init(
    at path: String,
    fileSystem: any FileSystem = PosixFileSystem(),
    reads: EngineOptions.ReadMethod = .mapped
  ) {
    paths = StorePaths(root: path)
    self.fileSystem = fileSystem
    self.reads = reads
  }

  /// The manifests there are, by ascending number: the last one counts.
  ///
  /// - Throws: ``StorageError/missingStore(path:)`` if there is no such directory. Damage is part of the
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

  /// The files of the log, by ascending number.
  ///
  /// - Throws: ``StorageError/missingStore(path:)`` if there is no such directory. Damage is part of the
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
    let isUnfinished = successor == nil && ((try? file.isUnfinished()) ?? false)
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

// MARK: Frames and records

extension StoreInspection {
  /// Visits what stands in a segment: frames, bytes that are none, and the space that is left.
  ///
  /// - Parameters:
  ///   - segment: The segment.
  ///   - body: Called for each part, in the order of the file.
  /// - Throws: ``StorageError/missingFile(path:)`` if there is no such segment, or what `body` throws.
  /// - Complexity: O(bytes of the segment), at the speed of the checksum.
  public func forEachPart(
    of segment: SegmentID,
    _ body: (SegmentPart) throws -> ScanControl
  ) throws {
    let file = try SegmentFile(segment, paths: paths, fileSystem: fileSystem, reads: reads)
    var walk = SegmentWalk(file)
    while let part = try walk.next() {
      if try body(part) == .stop { return }
    }
  }

  /// Visits the records of a frame; in a damaged one, those that are whole.
  ///
  /// - Parameters:
  ///   - frame: The frame, as ``forEachPart(of:_:)`` found it.
  ///   - body: Called for each record with its body, which it must not keep: a row, a `RowDelta`, what
  ///     a deletion preserves, or changes of the catalogue.
  /// - Throws: ``StorageError/missingFile(path:)`` if there is no such segment, or what `body` throws.
  public func forEachRecord(
    in frame: FrameDescription,
    _ body: (RecordDescription, _ body: RawSpan) throws -> ScanControl
  ) throws {
    guard frame.kind.hasRecords else { return }
    let file = try SegmentFile(frame.segment, paths: paths, fileSystem: fileSystem, reads: reads)
    try file.segment.withAvailableBytes(frame.payloadRange) { payload in
      guard payload.byteCount == frame.payloadByteCount else { return }
      var walk = RecordWalk(payload, isIntact: frame.isIntact)
      while let (offset, header) = walk.next(in: payload) {
        let place = RecordPlace(
          segment: frame.segment,
          offset: frame.payloadRange.lowerBound + offset
        )
        guard let address = RecordAddress(place) else { continue }
        let bytes = payload.extracting(offset..<(offset + header.totalByteCount))
        let control = try body(
          RecordDescription(header, at: address),
          bytes.extracting(header.bodyRange)
        )
        if control == .stop { return }
      }
    }
  }

  /// When a commit was made and by whom, as its frame says; the author only in the last frame of one.
  ///
  /// - Returns: Microseconds since 1970-01-01T00:00:00Z and the name; `nil` for a frame that has no
  ///   records or is damaged.
  public func origin(
    of frame: FrameDescription
  ) throws -> (microseconds: Int64, author: String?)? {
    guard frame.kind.hasRecords, frame.isIntact else { return nil }
    let file = try SegmentFile(frame.segment, paths: paths, fileSystem: fileSystem, reads: reads)
    return try file.segment.withAvailableBytes(frame.payloadRange) { payload in
      CommitPayload(decoding: payload).map { ($0.microseconds, $0.author(in: payload)) }
    }
  }

  /// Lends bytes of a segment's file: fewer than asked for, where it ends.
  public func withBytes<R>(
    of segment: SegmentID,
    in range: Range<Int>,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let file = try SegmentFile(segment, paths: paths, fileSystem: fileSystem, reads: reads)
    let bytes = range.clamped(to: 0..<file.byteCount)
    return try file.segment.withAvailableBytes(bytes, body)
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
