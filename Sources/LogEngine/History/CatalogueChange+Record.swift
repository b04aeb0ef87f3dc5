import LogFormat
import RowFormat

extension CatalogueChange {
  /// Reads the body of a record of the catalogue, as `StoreInspection.forEachRecord(in:_:)` lends it.
  ///
  /// - Returns: The changes, in order; `nil` if the bytes are none.
  public static func list(inRecord body: RawSpan) -> [CatalogueChange]? { decodeList(body) }
}
