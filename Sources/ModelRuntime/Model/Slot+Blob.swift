public import Foundation
import RowFormat

// Data, possibly in a side file: the file is read on access to the property.

extension _Slot where Value == Data {
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Data {
    if let value { return value }
    let (read, isReadable) = readData(model, ordinal)
    let data = read ?? Data()
    if isReadable { value = data }
    return data
  }

  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    if let value, encoder.writesValue(ordinal) {
      value._encode(into: &encoder, ordinal)
    } else {
      encoder.keepValue(ordinal)
    }
  }
}

extension _Slot where Value == Data? {
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Data? {
    if let value { return value }
    let (data, isReadable) = readData(model, ordinal)
    if isReadable { value = .some(data) }
    return data
  }

  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    if let value, encoder.writesValue(ordinal) {
      value._encode(into: &encoder, ordinal)
    } else {
      encoder.keepValue(ordinal)
    }
  }
}

/// Reads the bytes of a property.
///
/// - Returns: The bytes, if there are any, and whether they could be read: unreadable bytes
///   count as none, this time.
private func readData<M: PersistentModel>(_ model: M, _ ordinal: Int) -> (Data?, isReadable: Bool) {
  let row = model.rowForReading()
  guard let blob = row.blob(ordinal) else { return (Data?._decode(row, ordinal), true) }
  do {
    return (try model._$state.readBlob(blob, ordinal), true)
  } catch {
    return (nil, false)
  }
}

extension _ModelState {
  /// Lends the bytes of a non-null value, in the row or in a side file.
  func withValue<R>(
    _ row: _RowView,
    _ ordinal: Int,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    guard let blob = row.blob(ordinal) else { return try unsafe row.withBytes(ordinal, body) }
    return try unsafe (readBlob(blob, ordinal) ?? Data()).withUnsafeBytes(body)
  }

  /// Reads a value from its side file.
  ///
  /// - Returns: `nil` if the row is gone, or the object has left its context.
  /// - Throws: The error of the store if the file is missing or damaged; the context's next save or fetch
  ///   throws it, too, since a getter cannot.
  func readBlob(_ blob: BlobReference, _ ordinal: Int) throws -> Data? {
    guard let context, let connection, !flags.contains(.vanished) else { return nil }
    do {
      return try connection.store.blob(blob, of: reference, column: ordinal)
    } catch {
      context.deferredError = context.deferredError ?? error
      throw error
    }
  }
}
