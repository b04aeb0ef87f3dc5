public import Foundation

/// What one save changed in one store.
///
///     let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
///     for change in transactions.flatMap(\.changes) { print(change.changedPersistentIdentifier) }
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

  /// When the save was made, by the clock of the process that made it.
  var timestamp: Date { get }
  /// What it changed, in order.
  var changes: [HistoryChange] { get }
  /// A bookmark behind this transaction: what is greater came later.
  var token: TokenType { get }
  var transactionIdentifier: TransactionIdentifier { get }
  /// The store that was saved to.
  var storeIdentifier: String { get }
  /// The ``ModelContext/author`` of the context that saved.
  var author: String? { get }
}

/// What happened to one model.
public enum HistoryChange: Sendable {
  case insert(any HistoryInsert)
  case update(any HistoryUpdate)
  case delete(any HistoryDelete)

  /// The model's identifier, as ``ModelContext/model(for:)`` takes it.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let insert): insert.changedPersistentIdentifier
    case .update(let update): update.changedPersistentIdentifier
    case .delete(let delete): delete.changedPersistentIdentifier
    }
  }
}

/// A model was added.
public protocol HistoryInsert<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

  var changeIdentifier: ChangeIdentifier { get }
  var transactionIdentifier: TransactionIdentifier { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// Properties of a model were set.
public protocol HistoryUpdate<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// A property that was set.
  typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

  var changeIdentifier: ChangeIdentifier { get }
  var transactionIdentifier: TransactionIdentifier { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The attributes and relationships that were set.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// A model was deleted.
public protocol HistoryDelete<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

  var changeIdentifier: ChangeIdentifier { get }
  var transactionIdentifier: TransactionIdentifier { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// What is left of the model: the values of its attributes marked `.preserveValueOnDeletion`.
  var tombstone: HistoryTombstone<Model> { get }
}
