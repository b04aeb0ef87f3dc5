import LogFormat
import RowFormat

extension CommitBatch {
  /// Ends the encoding; the fields filled in later depend on nothing but the place in the log.
  ///
  /// - Parameter microseconds: The time of the commit.
  /// - Throws: The first mistake made while filling the batch.
  mutating func finish(microseconds: Int64) throws(StorageError) {
    if let failure { throw failure }
    let authorLength = author?.utf8.count ?? 0
    guard authorLength <= CommitPayload.authorLimit else {
      throw .tooLarge(byteCount: authorLength, limit: CommitPayload.authorLimit)
    }
    if let reference = firstDuplicate() { throw .duplicateRow(reference) }
    if let author, frameStarts.last != nil, !isFinished {
      buffer.append(utf8: author)
      buffer.appendZeros(-authorLength & 7)
    }
    isFinished = true
    for (index, start) in frameStarts.enumerated() {
      let isLast = index == frameStarts.count - 1
      let end = isLast ? buffer.count : frameStarts[index + 1]
      let kind: FrameKind =
        frameStarts.count == 1 ? .commit : index == 0 ? .first : isLast ? .last : .middle
      finishFrame(start..<end, kind, microseconds, authorLength: isLast ? authorLength : 0)
    }
  }

  /// Returns a row that has two records in the batch: the second would not build on the first.
  private func firstDuplicate() -> RowReference? {
    if isAscending { return nil }
    var references: [RowReference] = []
    references.reserveCapacity(count)
    forEachRecord { _, header in
      if header.kind != .catalogue { references.append(header.reference) }
      return true
    }
    references.sort()
    return zip(references, references.dropFirst()).first { $0 == $1 }?.0
  }

  /// The share of a nearly full device that the commit may take: a commit that only deletes rows makes room.
  var frugality: SegmentFrugality {
    var (deletes, adds) = (false, false)
    forEachRecord { _, header in
      switch header.kind {
      case .delete: deletes = true
      case .insert, .catalogue: adds = true
      case .delta, .fullImage: break
      }
      return !adds
    }
    return deletes && !adds ? .fraction : .asEver
  }

  private mutating func finishFrame(
    _ range: Range<Int>,
    _ kind: FrameKind,
    _ microseconds: Int64,
    authorLength: Int
  ) {
    let start = range.lowerBound
    let payload = (start + FrameHeader.byteCount)..<range.upperBound
    buffer.store(
      CommitPayload.encode(microseconds: microseconds, authorLength: authorLength),
      at: payload.lowerBound
    )
    buffer.fillFrame(at: start, kind: kind, payload: payload)
  }

  /// Visits the records with their offsets in the buffer, until `body` returns `false`.
  @inline(__always)
  func forEachRecord(_ body: (Int, RecordHeader) -> Bool) {
    for index in frameStarts.indices {
      let end = index + 1 < frameStarts.count ? frameStarts[index + 1] : recordsEnd
      var offset = frameStarts[index] + FrameHeader.byteCount + CommitPayload.byteCount
      while offset < end {
        let bytes = buffer.bytes.extracting(offset..<end)
        guard let header = RecordHeader(decodingUnbounded: bytes), body(offset, header) else {
          return
        }
        offset += header.totalByteCount
      }
    }
  }
}
