/// The remains of a deleted model: the values of its attributes marked `.preserveValueOnDeletion`.
///
///     if let name = delete.tombstone[\.name] as? String { print("\(name) is gone") }
///
/// As a sequence, the values.
///
/// Unchecked, because key paths of stored properties are sendable but not declared so.
public struct HistoryTombstone<Model>: Sequence, @unchecked Sendable {
  public typealias Element = Any

  /// The values, by the key path that the property was declared with; `nil` if nothing was preserved, so that most
  /// tombstones take no memory.
  private let values: [AnyKeyPath: any Sendable]?

  /// Makes a tombstone; for stores that keep a history of their own.
  ///
  /// - Parameter values: The preserved values, by property.
  public init(_ values: [PartialKeyPath<Model>: any Sendable] = [:]) {
    self.init(declared: values)
  }

  /// Makes a tombstone from values by the key paths of the class or of a superclass.
  init(declared values: [AnyKeyPath: any Sendable]) { self.values = values.isEmpty ? nil : values }

  /// The value of a property; `nil` if it had none, or was not to be preserved.
  public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    guard let values else { return nil }
    if let value = values[keyPath] { return value }
    // Inherited properties were declared with a key path of the superclass.
    guard let model = Model.self as? any PersistentModel.Type,
      let property = ModelDescriptor.of(model).ownOrInheritedProperty(for: keyPath)
    else { return nil }
    return values[property.keyPath]
  }

  public func makeIterator() -> Iterator {
    Iterator(values: (values ?? [:]).values.makeIterator())
  }

  /// Walks the preserved values, in no particular order.
  public struct Iterator: IteratorProtocol {
    fileprivate var values: Dictionary<AnyKeyPath, any Sendable>.Values.Iterator

    public mutating func next() -> Any? { values.next() }
  }
}
