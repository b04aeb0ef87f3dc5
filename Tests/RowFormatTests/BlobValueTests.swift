import RowFormat
import Testing

private let layout = RowLayout([.integer, .blob, .text, .blob])

private let photo = BlobReference(
  id: BlobID(rawValue: 0x1234_5678_9ABC),
  byteCount: 10_000_000,
  checksum: 0xCAFE_F00D
)

/// A row with a value in a side file and one in the row.
private func sampleRow() -> [UInt8] {
  var writer = RowWriter()
  writer.begin(layout)
  writer.set(0, integer: 7)
  writer.append(1, blob: photo)
  writer.append(2, text: "Lisbon")
  [1, 2, 3].withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
    writer.append(3, inlineBlob: UnsafeRawBufferPointer(rebasing: bytes.prefix(3)).bytes)
  }
  let range = writer.finish()
  return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
}

@Suite struct `The value of a blob column` {
  @Test func `names a side file by number, length and checksum`() {
    sampleRow().withUnsafeBytes { row in
      #expect(layout.blob(1, in: row.bytes) == .external(photo))
      let isValid = layout.hasValidBlobs(in: row.bytes)
      #expect(isValid)
      var found: [BlobReference] = []
      layout.forEachBlob(in: row.bytes) { _, reference in found.append(reference) }
      #expect(found == [photo])
    }
  }

  @Test func `is in the row if it is small`() {
    sampleRow().withUnsafeBytes { row in
      guard case .inline(let range) = layout.blob(3, in: row.bytes) else {
        Issue.record("expected a value in the row")
        return
      }
      #expect(range.count == 3)
    }
  }

  @Test func `is none where the column is null`() {
    let row = encode([.null, .null, .null, .null], layout)
    row.withUnsafeBytes { #expect(layout.blob(1, in: $0.bytes) == nil) }
  }

  @Test func `is none, or another, when a byte is flipped or cut off, and never out of bounds`() {
    var value: [UInt8] = []
    sampleRow().withUnsafeBytes { row in
      value = layout.range(1, in: row.bytes).map { row[$0] }
    }
    for index in value.indices {
      for bit in 0..<8 {
        var damaged = value
        damaged[index] ^= 1 << UInt8(bit)
        let decoded = damaged.withUnsafeBytes {
          BlobValue(decoding: $0.bytes, in: 0..<damaged.count)
        }
        #expect(decoded != .external(photo))
        if let reference = decoded?.reference { #expect(reference.id.isValid) }
      }
      let cut = value.withUnsafeBytes { BlobValue(decoding: $0.bytes, in: 0..<index) }
      #expect(cut == nil)
    }
  }

  @Test(arguments: [0, BlobID.maximum.rawValue + 1, .max])
  func `is none if its number can be no file's`(number: UInt64) {
    var writer = RowWriter()
    writer.begin(layout)
    writer.append(1, blob: BlobReference(id: BlobID(rawValue: number), byteCount: 1, checksum: 0))
    _ = writer.finish()
    #expect(layout.blob(1, in: writer.bytes) == nil)
  }

  @Test func `is found in the delta that sets it`() {
    let old = encode([.integer(1), .null, .text("a"), .null], layout)
    var changed = ColumnSet()
    changed.insert(0)
    changed.insert(1)
    changed.insert(2)
    let bytes = delta(from: old, to: sampleRow(), changed: changed, layout, seesOld: false)
    var found: [BlobReference] = []
    bytes.withUnsafeBytes {
      RowDelta.forEachBlob(in: $0.bytes, layout: layout) { found.append($0) }
    }
    #expect(found == [photo])
    for count in bytes.indices {
      bytes.prefix(count).withUnsafeBytes {
        RowDelta.forEachBlob(in: $0.bytes, layout: layout) { _ in }
      }
    }
  }
}
