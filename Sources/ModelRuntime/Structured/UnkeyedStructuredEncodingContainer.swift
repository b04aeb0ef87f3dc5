/// An array that is being written.
struct UnkeyedStructuredEncodingContainer: UnkeyedEncodingContainer {
  let encoder: StructuredEncoder
  private var writer: StructuredWriter { encoder.writer }

  init(encoder: StructuredEncoder) { self.encoder = encoder }

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int {
    writer.isOpen(encoder.frame, encoder.serial) ? writer.count(of: encoder.frame) : 0
  }

  func encodeNil() throws { try encoder.entry(in: .array) { writer.writeNull() } }
  func encode(_ value: Bool) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: String) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Double) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Float) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Int) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Int8) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Int16) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Int32) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: Int64) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: UInt) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: UInt8) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: UInt16) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: UInt32) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode(_ value: UInt64) throws { try encoder.entry(in: .array) { writer.write(value) } }
  func encode<T: Encodable>(_ value: T) throws {
    try encoder.entry(in: .array) {
      try writer.encode(value, at: StructuredKey(intValue: writer.count(of: encoder.frame)))
    }
  }

  // MARK: Nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    nested().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
  func superEncoder() -> any Encoder { nested() }

  private func nested() -> StructuredEncoder {
    guard writer.isOpen(encoder.frame, encoder.serial) else {
      writer.fail("a nested container is asked for after its container was left")
      return writer.detached()
    }
    let key = StructuredKey(intValue: writer.count(of: encoder.frame))
    writer.countEntry(in: encoder.frame)
    return writer.splice(at: key)
  }
}
