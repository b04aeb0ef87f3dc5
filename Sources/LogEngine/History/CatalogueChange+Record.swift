import LogFormat
import RowFormat

extension CatalogueChange {
  /// Decodes the body of a catalogue record, as lent by `StoreInspection.forEachRecord(in:_:)`.
  ///
  /// - Returns: The changes, in order; `nil` if the bytes are not a list of changes.
  public static func list(inRecord body: RawSpan) -> [CatalogueChange]? { decodeList(body) }
}
