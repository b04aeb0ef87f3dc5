package import RowFormat

/// Makes the history changes of one class from keys and columns.
///
/// Unchecked, because it has a subclass; the only property is a constant.
package class HistoryChangeMaker: @unchecked Sendable {
  static let placeBits: Int64 = 24

  fileprivate let origin: IdentifierOrigin

  fileprivate init(origin: IdentifierOrigin) { self.origin = origin }

  /// The maker for a class.
  package static func make(
    for descriptor: ModelDescriptor,
    storeIdentifier: String
  ) -> HistoryChangeMaker {
    func make<M: PersistentModel>(_: M.Type) -> HistoryChangeMaker {
      HistoryChangeMakerOf<M>(
        origin: .named(store: storeIdentifier, entity: descriptor.entityName)
      )
    }
    return make(descriptor.type)
  }

  /// The number of a change: that of its transaction, and its place in it.
  package static func changeIdentifier(_ place: Int, of transaction: Int64) -> Int64 {
    transaction << placeBits | Int64(min(place, 1 << placeBits - 1))
  }

  package func insert(_ key: UInt64, _ change: Int64) -> HistoryChange { notOverridden() }

  package func update(_ key: UInt64, _ change: Int64, _ columns: ColumnSet) -> HistoryChange {
    notOverridden()
  }

  /// Makes the deletion of a row with preserved values, by the ordinals of their properties.
  package func delete(
    _ key: UInt64,
    _ change: Int64,
    preserving values: [(ordinal: Int, value: any Sendable)]
  ) -> HistoryChange { notOverridden() }

  private func notOverridden() -> Never {
    preconditionFailure("\(type(of: self)) must override this")
  }
}

private final class HistoryChangeMakerOf<M: PersistentModel>: HistoryChangeMaker,
  @unchecked Sendable
{
  override func insert(_ key: UInt64, _ change: Int64) -> HistoryChange {
    .insert(DefaultHistoryInsert<M>(subject: subject(key, change)))
  }

  override func update(_ key: UInt64, _ change: Int64, _ columns: ColumnSet) -> HistoryChange {
    .update(DefaultHistoryUpdate<M>(subject: subject(key, change), columns: columns))
  }

  override func delete(
    _ key: UInt64,
    _ change: Int64,
    preserving values: [(ordinal: Int, value: any Sendable)]
  ) -> HistoryChange {
    var preserved: [AnyKeyPath: any Sendable] = [:]
    if !values.isEmpty {
      let properties = ModelDescriptor.of(M.self).properties
      for (ordinal, value) in values { preserved[properties[ordinal].keyPath] = value }
    }
    return .delete(
      DefaultHistoryDelete<M>(
        subject: subject(key, change),
        tombstone: HistoryTombstone(declared: preserved)
      )
    )
  }

  private func subject(_ key: UInt64, _ change: Int64) -> HistorySubject {
    HistorySubject(origin: origin, key: key, change: change)
  }
}

extension ModelProperty {
  /// The value of an attribute in a row of any layout.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - layout: Its layout.
  ///   - column: The attribute's column there.
  /// - Returns: `nil` for null, a relationship, and a value that cannot be read.
  package func historyValue(
    in row: RawSpan,
    _ layout: RowLayout,
    _ column: Int
  ) -> (any Sendable)? {
    guard case .attribute(let codec) = kind, layout.types[column] == columnType else { return nil }
    return unsafe row.withUnsafeBytes { bytes in
      let view = unsafe _RowView(base: bytes.baseAddress, byteCount: bytes.count, layout: layout)
      guard let value = try? codec.value(view, column) else { return nil }
      // Decoded here and shared with nobody; the type is the same with and without the marker.
      return unsafe unsafeBitCast(value as Any, to: (any Sendable).self)
    }
  }
}
