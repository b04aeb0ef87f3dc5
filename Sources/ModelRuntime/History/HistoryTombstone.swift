/// What a deleted model left behind: the values of its attributes marked `.preserveValueOnDeletion`.
///
///     if let name = delete.tombstone[\.name] as? String { print("\(name) is gone") }
///
/// As a sequence, the values.
///
/// Unchecked, because key paths of stored properties are Sendable and do not say so.
public struct HistoryTombstone<Model>: Sequence, @unchecked Sendable {
  public typealias Element = Any

  /// The values, by property; `nil` where nothing was preserved, so that most tombstones take no memory.
  private let values: [PartialKeyPath<Model>: any Sendable]?

  /// Makes a tombstone; for stores that keep a history of their own.
  ///
  /// - Parameter values: What is preserved, by property.
  public init(_ values: [PartialKeyPath<Model>: any Sendable] = [:]) {
    self.values = values.isEmpty ? nil : values
  }

  /// The value a property had; `nil` if it had none, or was not to be preserved.
  public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? { values?[keyPath] }

  public func makeIterator() -> Iterator {
    Iterator(values: (values ?? [:]).values.makeIterator())
  }

  /// Walks the preserved values, in no particular order.
  public struct Iterator: IteratorProtocol {
    fileprivate var values: Dictionary<PartialKeyPath<Model>, any Sendable>.Values.Iterator

    public mutating func next() -> Any? { values.next() }
  }
}
