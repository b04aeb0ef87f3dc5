import LogFormat
import RowFormat

/// The files of the log, in order.
package struct LogFiles {
  /// The segments with a header, each the successor of the one before.
  var headers: [SegmentHeader] = []
  /// Segments that were being created when the writer stopped: they have no header and no contents.
  var unfinished: [SegmentID] = []
  /// The highest number seen.
  var highest = SegmentID.none

  /// The segment before the first that is listed.
  private var predecessor: SegmentID
  /// The damage that ends the list early, in a store that is opened up to its damage.
  var damage: StorageError?

  /// Lists the log, or the segments after one of them.
  ///
  /// Beside a writer, files and their headers may appear during this, out of the order in which it looks. So to a reader an
  /// error counts only if it occurs twice.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if the files are not one chain of segments.
  init(
    paths: StorePaths,
    fileSystem: any FileSystem,
    mode: EngineOptions.Mode,
    after predecessor: SegmentID = .none
  ) throws(StorageError) {
    var previous: StorageError?
    while true {
      do throws(StorageError) {
        self = LogFiles(predecessor)
        try collect(paths, fileSystem)
        return
      } catch {
        if mode != .readWrite, error != previous {
          previous = error
          continue
        }
        guard mode == .readOnlyUpToDamage else { throw error }
        damage = error
        return
      }
    }
  }

  private init(_ predecessor: SegmentID) { self.predecessor = predecessor }

  private mutating func collect(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem
  ) throws(StorageError) {
    var firstProblem: StorageError?
    for id in try Self.numbers(paths, fileSystem) where id > predecessor {
      highest = id
      let path = paths.segment(id)
      let file = try fileSystem.open(path, .read)
      let bytes = try file.readBytes(SegmentHeader.byteCount, at: 0)
      let header: SegmentHeader
      do throws(StorageError) {
        header = try SegmentHeader(decoding: bytes.bytes, path: path)
      } catch .corruption(let problem) {
        // There may be more than one at the end: the removal of one may be undone by a power cut while its successor is being
        // created.
        guard try Self.isBlank(file) else { throw .corruption(problem) }
        firstProblem = firstProblem ?? .corruption(problem)
        unfinished.append(id)
        continue
      }
      // A segment without a header precedes one with a header: it must have had one, too.
      if let firstProblem { throw firstProblem }
      try check(header, id: id, path: path)
      headers.append(header)
    }
  }

  /// Returns the numbers of the existing segments, ascending.
  package static func numbers(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> [SegmentID] {
    let names = try fileSystem.list(paths.log) ?? []
    return names.compactMap { name -> SegmentID? in
      guard let number = StorePaths.number(in: name, suffix: StorePaths.segmentSuffix),
        number > 0, number <= UInt64(SegmentID.maximum.rawValue)
      else { return nil }
      return SegmentID(rawValue: UInt32(number))
    }
    .sorted()
  }

  private func check(
    _ header: SegmentHeader,
    id: SegmentID,
    path: String
  ) throws(StorageError) {
    let expected = headers.last?.segment ?? predecessor
    let problem: Corruption.Problem
    if header.segment != id {
      problem = Self.mismatch("segment", id.rawValue, header.segment.rawValue)
    } else if header.previousSegment != expected {
      problem = Self.mismatch("previousSegment", expected.rawValue, header.previousSegment.rawValue)
    } else if let last = headers.last, header.store != last.store {
      problem = .invalidField(
        of: .segmentHeader,
        name: "store",
        expected: last.store.low,
        found: header.store.low
      )
    } else {
      return
    }
    throw .corruption(Corruption(path: path, offset: 0, problem: problem))
  }

  private static func mismatch(
    _ name: String,
    _ expected: UInt32,
    _ found: UInt32
  ) -> Corruption.Problem {
    .invalidField(
      of: .segmentHeader,
      name: name,
      expected: UInt64(expected),
      found: UInt64(found)
    )
  }

  /// Whether no frame was ever written to a file without a valid header.
  ///
  /// The header is on disk before the first frame is written, and frames are written from its end on: so if the bytes there are
  /// zero, the creation of the file was not completed.
  private static func isBlank(_ file: any OpenFile) throws(StorageError) -> Bool {
    let bytes = try file.readBytes(64 << 10, at: SegmentHeader.byteCount)
    return bytes.bytes.isZero
  }
}

extension RawSpan {
  /// Whether all bytes are zero.
  package var isZero: Bool {
    var at = 0
    // Sixty-four bytes at a time: an opening checks the whole rest of a segment.
    while byteCount - at >= 64 {
      var all: UInt64 = 0
      for word in 0..<8 {
        all |= unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: at + word * 8, as: UInt64.self)
      }
      if all != 0 { return false }
      at += 64
    }
    return extracting(at..<byteCount).endOfNonzeroBytes(from: 0) == 0
  }

  /// Returns the offset after the last nonzero byte at or after `start`; `start` if all bytes are zero.
  package func endOfNonzeroBytes(from start: Int) -> Int {
    var end = byteCount
    while end - start >= 8, load(UInt64.self, at: end - 8) == 0 { end -= 8 }
    while end > start, load(UInt8.self, at: end - 1) == 0 { end -= 1 }
    return end
  }
}
