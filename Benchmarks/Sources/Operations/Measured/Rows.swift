import CCRC32C
import LogEngine

/// A row of eight columns, as an app's model would have them.
enum SampleRow {
  static let layout = RowLayout([.date, .date, .integer, .bool, .text, .text, .text, .text])
  static let name = "Crossing of the Alps on foot"
  static let place = "Oberstdorf"
  static let note =
    "Boots, rope, map; start before dawn, turn back at noon if there is snow on the pass."

  static func write(_ rating: Int, to writer: inout RowWriter) -> Range<Int> {
    writer.begin(layout)
    writer.set(0, double: 1_000_000)
    writer.set(1, double: 2_000_000)
    writer.set(2, integer: Int64(rating))
    writer.set(3, bool: true)
    writer.append(4, text: name)
    writer.append(5, text: place)
    writer.append(6, text: note)
    return writer.finish()
  }

  /// The bytes of one.
  static var bytes: [UInt8] {
    var writer = RowWriter()
    let place = write(5, to: &writer)
    return writer.bytes.extracting(place).withUnsafeBytes { Array($0) }
  }
}

/// A writer that outlives the closure that made it.
private final class SampleWriter {
  private var writer = RowWriter()

  /// Writes a row over those before.
  func write(_ number: Int) -> Range<Int> {
    writer.removeAll()
    return SampleRow.write(number, to: &writer)
  }
}

extension Operation {
  /// Rows as bytes, and their checksum.
  static var rows: [Operation] {
    [
      Operation("row encode") {
        let writer = SampleWriter()
        return { count in for number in 0..<count { use(writer.write(number)) } }
      },
      Operation("row decode") {
        let bytes = SampleRow.bytes
        let layout = SampleRow.layout
        return { count in
          for _ in 0..<count {
            let row = bytes.span.bytes
            use(layout.double(0, in: row) + layout.double(1, in: row))
            use(layout.integer(2, in: row))
            use(layout.bool(3, in: row))
            for column in 4...6 { use(layout.text(column, in: row)) }
            use(layout.isNull(7, in: row))
          }
        }
      },
      Operation("CRC-32C of 4 KiB") {
        let bytes = [UInt8](repeating: 7, count: 4096)
        return { count in
          for number in 0..<count {
            use(bytes.withUnsafeBytes { crc32c_extend(UInt32(number), $0.baseAddress, $0.count) })
          }
        }
      },
    ]
  }
}
