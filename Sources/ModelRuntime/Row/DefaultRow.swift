import RowFormat

extension ModelDescriptor {
  /// A row in which every attribute has its default value, and everything else is null: what a row from
  /// before a property existed is completed with.
  package func defaultRow() -> [UInt8] {
    var encoder = _RowEncoder(references: ReferenceList())
    encoder.begin(layout)
    for property in properties {
      guard case .attribute(let codec) = property.kind, let value = property.defaultValue else {
        continue
      }
      codec.write(value, into: &encoder, property.ordinal)
    }
    // A default that cannot be encoded is left null, and reads as its type's neutral value.
    encoder.failure = nil
    return (try? encoder.finishBytes()) ?? []
  }
}
