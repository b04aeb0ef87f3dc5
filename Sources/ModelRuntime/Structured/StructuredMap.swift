import Foundation
import RowFormat

/// The positions of a map's fields.
///
/// Fields are mostly read in the order of writing, so each search continues where the
/// last one ended.
final class StructuredMap {
  private struct Field {
    let key: Int
    let value: Int
  }

  private var fields: [Field] = []
  private var next = 0

  init(_ head: StructuredHead, in bytes: RawSpan) {
    var items = StructuredItems(of: head)
    fields.reserveCapacity(head.isIndefinite ? 0 : Int(head.argument))
    while let key = items.next(in: bytes), let value = items.next(in: bytes) {
      fields.append(Field(key: key, value: value))
    }
  }

  /// The offset of the value of a field, or `nil` if the map has no such field.
  func offset(of name: String, in reader: StructuredReader) -> Int? {
    var name = name
    return name.withUTF8 { name in
      for step in fields.indices {
        let index = next + step < fields.count ? next + step : next + step - fields.count
        guard unsafe matches(fields[index].key, UnsafeRawBufferPointer(name), reader) else {
          continue
        }
        next = index + 1 < fields.count ? index + 1 : 0
        return fields[index].value
      }
      return nil
    }
  }

  /// The names of the fields; keys that are not text do not count.
  func keys(in reader: StructuredReader) -> [String] {
    fields.compactMap { try? reader.text(at: $0.key, in: nil) }
  }

  private func matches(_ key: Int, _ name: UnsafeRawBufferPointer, _ reader: StructuredReader)
    -> Bool
  {
    guard let head = reader.head(at: key)?.head, head.major == .text else { return false }
    // Most keys differ in length, which is known without reading their bytes.
    if !head.isIndefinite && head.argument != UInt64(name.count) { return false }
    return unsafe reader.withString(of: head) { unsafe $0.elementsEqual(name) }
  }
}
