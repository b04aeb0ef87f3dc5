/// The encoder passed to a value's `encode(to:)`: one frame of a writer.
struct StructuredEncoder: Encoder {
  let writer: StructuredWriter
  let frame: Int
  let serial: Int

  var codingPath: [any CodingKey] { writer.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    demand(.map)
    return KeyedEncodingContainer(KeyedStructuredEncodingContainer(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    demand(.array)
    return UnkeyedStructuredEncodingContainer(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleStructuredEncodingContainer(encoder: self)
  }

  /// Begins a container, which cannot be refused here; if it must be, the encoding as a whole fails.
  private func demand(_ kind: StructuredWriter.Kind) {
    if !writer.begin(kind, in: frame, serial: serial) {
      writer.fail("a value is encoded as one kind of container, and before its encoder is left")
    }
  }

  /// Checks that the container of this encoder can be written to.
  func check(_ kind: StructuredWriter.Kind) throws {
    guard writer.isOpen(frame, serial), writer.kind(of: frame) == kind else {
      throw writer.misuse("a container is written to after another one took its place")
    }
  }

  /// Writes one entry of a container, or nothing if that fails.
  func entry(in kind: StructuredWriter.Kind, _ write: () throws -> Void) throws {
    try check(kind)
    let mark = writer.mark
    do {
      try write()
      writer.countEntry(in: frame)
    } catch {
      writer.rollBack(to: mark)
      throw error
    }
  }
}

/// The key of a superclass, and of the elements of arrays in coding paths.
struct StructuredKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  static let superclass = StructuredKey(stringValue: "super")

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }
}
