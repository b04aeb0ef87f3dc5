import Foundation
import RowFormat

extension StructuredValue {
  /// Reads the item at an offset, or returns `nil` if it is malformed or cut off.
  init?(at offset: Int, in bytes: RawSpan) {
    // Validated as a whole first: below, no count and no length can lead outside.
    guard StructuredExtent.end(of: offset, in: bytes) != nil else { return nil }
    self.init(sound: offset, in: bytes)
  }

  private init?(sound offset: Int, in bytes: RawSpan) {
    guard let head = StructuredHead(at: offset, in: bytes) else { return nil }
    switch head.major {
    case .unsigned:
      self = Int64(exactly: head.argument).map { .integer($0) } ?? .unsigned(head.argument)
    case .negative:
      self =
        Int64(exactly: head.argument).map { .integer(~$0) }
        ?? .other((-1 - Decimal(head.argument)).description)
    case .bytes:
      self = .bytes(StructuredValue.string(of: head, in: bytes))
    case .text:
      let units = StructuredValue.string(of: head, in: bytes)
      guard let text = String(validating: units, as: UTF8.self) else { return nil }
      self = .text(text)
    case .array:
      var items = StructuredItems(of: head)
      var values: [StructuredValue] = []
      while let item = items.next(in: bytes) {
        guard let value = StructuredValue(sound: item, in: bytes) else { return nil }
        values.append(value)
      }
      self = .array(values)
    case .map:
      var items = StructuredItems(of: head)
      var entries: [Entry] = []
      while let key = items.next(in: bytes), let value = items.next(in: bytes) {
        guard let key = StructuredValue(sound: key, in: bytes),
          let value = StructuredValue(sound: value, in: bytes)
        else { return nil }
        entries.append(Entry(key: key, value: value))
      }
      self = .map(entries)
    case .tag:
      guard let content = StructuredValue(sound: head.end, in: bytes) else { return nil }
      self = StructuredValue(tag: head.argument, content)
    case .simple:
      self = StructuredValue(simple: head)
    }
  }

  private init(tag: UInt64, _ content: StructuredValue) {
    switch (tag, content) {
    case (StructuredTag.referenceDate, .double(let seconds)):
      self = .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (StructuredTag.uuid, .bytes(let bytes)) where bytes.count == 16:
      self = unsafe .uuid(
        UUID(uuid: bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: uuid_t.self) })
      )
    default:
      self = .tagged(tag, content)
    }
  }

  private init(simple head: StructuredHead) {
    if let float = head.float {
      self = .double(float)
      return
    }
    switch head.information {
    case StructuredHead.falseInformation: self = .bool(false)
    case StructuredHead.trueInformation: self = .bool(true)
    case StructuredHead.nullInformation: self = .null
    case StructuredHead.undefinedInformation: self = .other("undefined")
    default: self = .other("simple(\(head.argument))")
    }
  }

  /// The bytes of a string, its chunks joined.
  private static func string(of head: StructuredHead, in bytes: RawSpan) -> [UInt8] {
    func slice(_ head: StructuredHead) -> [UInt8] {
      unsafe bytes.extracting(head.end..<(head.end + Int(head.argument))).withUnsafeBytes {
        unsafe Array($0)
      }
    }
    guard head.isIndefinite else { return slice(head) }
    var joined: [UInt8] = []
    var position = head.end
    while let chunk = StructuredHead(at: position, in: bytes), chunk.major == head.major {
      joined += slice(chunk)
      position = chunk.end + Int(chunk.argument)
    }
    return joined
  }
}
