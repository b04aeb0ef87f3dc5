/// A value without fields that is being written.
struct SingleStructuredEncodingContainer: SingleValueEncodingContainer {
  let encoder: StructuredEncoder
  private var writer: StructuredWriter { encoder.writer }

  init(encoder: StructuredEncoder) { self.encoder = encoder }

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func single(_ write: () throws -> Void) throws {
    try encoder.check(.undecided)
    try write()
    writer.markSingleValue(in: encoder.frame)
  }

  func encodeNil() throws { try single { writer.writeNull() } }
  func encode(_ value: Bool) throws { try single { writer.write(value) } }
  func encode(_ value: String) throws { try single { writer.write(value) } }
  func encode(_ value: Double) throws { try single { writer.write(value) } }
  func encode(_ value: Float) throws { try single { writer.write(value) } }
  func encode(_ value: Int) throws { try single { writer.write(value) } }
  func encode(_ value: Int8) throws { try single { writer.write(value) } }
  func encode(_ value: Int16) throws { try single { writer.write(value) } }
  func encode(_ value: Int32) throws { try single { writer.write(value) } }
  func encode(_ value: Int64) throws { try single { writer.write(value) } }
  func encode(_ value: UInt) throws { try single { writer.write(value) } }
  func encode(_ value: UInt8) throws { try single { writer.write(value) } }
  func encode(_ value: UInt16) throws { try single { writer.write(value) } }
  func encode(_ value: UInt32) throws { try single { writer.write(value) } }
  func encode(_ value: UInt64) throws { try single { writer.write(value) } }
  func encode<T: Encodable>(_ value: T) throws { try single { try writer.encode(value) } }
}
