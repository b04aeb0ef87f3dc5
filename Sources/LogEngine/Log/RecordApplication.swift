import RowFormat
import Synchronization

extension StoreState {
  /// Enters the records of a frame into the index: after writing them, and when replaying the log.
  ///
  /// - Parameters:
  ///   - payload: The frame's payload.
  ///   - segment: The segment it stands in.
  ///   - payloadOffset: Where the payload starts there.
  ///   - sequence: The commit.
  /// - Throws: ``StorageError/corruption(_:)`` for records that cannot be.
  func enter(
    _ payload: RawSpan,
    in segment: Segment,
    at payloadOffset: Int,
    sequence: UInt64
  ) throws(StorageError) {
    guard let head = CommitPayload(decoding: payload) else {
      throw segment.corruption(at: payloadOffset, .missing(.payload))
    }
    var at = head.recordsStart
    while at < payload.byteCount {
      let rest = payload.extracting(at..<payload.byteCount)
      guard let header = RecordHeader(decoding: rest) else {
        throw segment.damagedRecord(at: payloadOffset + at)
      }
      if header.kind == .catalogue {
        guard let changes = CatalogueRecord.decode(rest.extracting(header.bodyRange)) else {
          throw segment.corruption(at: payloadOffset + at, .missing(.catalogue))
        }
        let new = try catalogue.withLock { $0 }.applying(changes)
        catalogue.withLock { $0 = new }
        adopt(new)
      } else {
        guard let table = tables[Int(header.table)], 1...IndexPages.maximumKey ~= header.key else {
          throw segment.corruption(
            at: payloadOffset + at,
            .inconsistent(.record, table: header.table, key: header.key)
          )
        }
        let wasRow = table.pages.location(of: header.key).isRow
        let isRow = header.kind != .delete
        table.pages.store(
          RecordLocation(
            segment: segment.id,
            offset: payloadOffset + at,
            kind: header.kind,
            depth: Int(header.depth)
          ),
          for: header.key,
          sequence: sequence
        )
        table.noteKey(header.key)
        if wasRow != isRow { table.liveRowCount.add(isRow ? 1 : -1, ordering: .relaxed) }
      }
      at += header.totalByteCount
    }
  }
}
