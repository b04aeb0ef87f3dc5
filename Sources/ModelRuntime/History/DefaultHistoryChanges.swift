import RowFormat

// Three words each if possible: that size fits into an existential without an allocation.

/// A model was added.
public struct DefaultHistoryInsert<Model>: HistoryInsert where Model: PersistentModel {
  /// The number of a transaction in its store.
  public typealias TransactionIdentifier = Int64
  /// The number of a transaction and the place of a change in it.
  public typealias ChangeIdentifier = Int64

  let subject: HistorySubject

  public var changeIdentifier: Int64 { subject.change }
  public var transactionIdentifier: Int64 { subject.transaction }
  public var changedPersistentIdentifier: PersistentIdentifier { subject.identifier }

  /// Whether both are the same change of the same store.
  public static func == (lhs: DefaultHistoryInsert, rhs: DefaultHistoryInsert) -> Bool {
    lhs.subject == rhs.subject
  }
  /// Hashes the identity of the change.
  public func hash(into hasher: inout Hasher) { hasher.combine(subject) }
}

/// Properties of a model were set.
public struct DefaultHistoryUpdate<Model>: HistoryUpdate where Model: PersistentModel {
  /// The number of a transaction in its store.
  public typealias TransactionIdentifier = Int64
  /// The number of a transaction and the place of a change in it.
  public typealias ChangeIdentifier = Int64

  let subject: HistorySubject
  let columns: ColumnSet

  public var changeIdentifier: Int64 { subject.change }
  public var transactionIdentifier: Int64 { subject.transaction }
  public var changedPersistentIdentifier: PersistentIdentifier { subject.identifier }

  /// The attributes and relationships of the class itself that were set, in the order of their declaration.
  ///
  /// A list counts as set when its members or their order changed, even if only a member's own property
  /// was set. In a model with more than 63 properties, those beyond the 63rd count as set together.
  ///
  /// Inherited properties are not included: they have key paths of the superclass alone. ``sets(_:)``
  /// covers all of them.
  public var updatedAttributes: [any PartialKeyPath<Model> & Sendable] {
    ModelDescriptor.of(Model.self).properties.compactMap { property in
      guard columns.contains(property.ordinal),
        let keyPath = property.keyPath as? PartialKeyPath<Model>
      else { return nil }
      return keyPath.asSendable
    }
  }

  /// Whether a property was set, inherited ones included.
  ///
  ///     if update.sets(\.name) { print("renamed") }
  ///
  /// - Parameter property: An attribute or a relationship.
  /// - Returns: Whether it was set; `false` for a property that is not stored.
  public func sets(_ property: PartialKeyPath<Model>) -> Bool {
    ModelDescriptor.of(Model.self).ownOrInheritedProperty(for: property)
      .map { columns.contains($0.ordinal) } ?? false
  }

  /// Whether both are the same change of the same store.
  public static func == (lhs: DefaultHistoryUpdate, rhs: DefaultHistoryUpdate) -> Bool {
    lhs.subject == rhs.subject && lhs.columns == rhs.columns
  }
  /// Hashes the identity of the change.
  public func hash(into hasher: inout Hasher) { hasher.combine(subject) }
}

/// A model was deleted.
public struct DefaultHistoryDelete<Model>: HistoryDelete where Model: PersistentModel {
  /// The number of a transaction in its store.
  public typealias TransactionIdentifier = Int64
  /// The number of a transaction and the place of a change in it.
  public typealias ChangeIdentifier = Int64

  let subject: HistorySubject
  public let tombstone: HistoryTombstone<Model>

  public var changeIdentifier: Int64 { subject.change }
  public var transactionIdentifier: Int64 { subject.transaction }
  public var changedPersistentIdentifier: PersistentIdentifier { subject.identifier }

  /// Whether both are the same change of the same store.
  public static func == (lhs: DefaultHistoryDelete, rhs: DefaultHistoryDelete) -> Bool {
    lhs.subject == rhs.subject
  }
  /// Hashes the identity of the change.
  public func hash(into hasher: inout Hasher) { hasher.combine(subject) }
}

/// The model of a change, and the number of the change.
struct HistorySubject: Hashable, Sendable {
  let origin: IdentifierOrigin
  let key: UInt64
  /// The number of the transaction, and in the lowest 24 bits the change's place in it.
  let change: Int64

  var identifier: PersistentIdentifier { PersistentIdentifier(origin: origin, key: key) }
  var transaction: Int64 { change >> HistoryChangeMaker.placeBits }
}

extension PartialKeyPath {
  /// The key path of a property, which captures nothing.
  fileprivate var asSendable: any PartialKeyPath<Root> & Sendable {
    unsafe unsafeBitCast(self, to: (any PartialKeyPath<Root> & Sendable).self)
  }
}
