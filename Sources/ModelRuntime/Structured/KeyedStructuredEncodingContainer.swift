/// A map that is being written.
struct KeyedStructuredEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: StructuredEncoder
  private var writer: StructuredWriter { encoder.writer }

  init(encoder: StructuredEncoder) { self.encoder = encoder }

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func entry(_ key: Key, _ write: () throws -> Void) throws {
    try encoder.entry(in: .map) {
      writer.write(key.stringValue)
      try write()
    }
  }

  func encodeNil(forKey key: Key) throws { try entry(key) { writer.writeNull() } }
  func encode(_ value: Bool, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: String, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Double, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Float, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Int, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Int8, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Int16, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Int32, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: Int64, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: UInt, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: UInt8, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: UInt16, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: UInt32, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode(_ value: UInt64, forKey key: Key) throws { try entry(key) { writer.write(value) } }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try entry(key) { try writer.encode(value, at: key) }
  }

  // MARK: Nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    nested(key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nested(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { nested(StructuredKey.superclass) }
  func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

  private func nested(_ key: any CodingKey) -> StructuredEncoder {
    guard writer.isOpen(encoder.frame, encoder.serial) else {
      writer.fail("a nested container is asked for after its container was left")
      return writer.detached()
    }
    writer.write(key.stringValue)
    writer.countEntry(in: encoder.frame)
    return writer.splice(at: key)
  }
}
