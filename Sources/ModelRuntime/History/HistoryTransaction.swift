public import Foundation

/// The changes of one save in one store.
///
///     let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
///     for change in transactions.flatMap(\.changes) { print(change.changedPersistentIdentifier) }
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  /// A bookmark in the history, greater than those before it.
  associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
  /// The identifier of a transaction in its store, ordered by time.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

  /// The time of the save, by the clock of the process that made it.
  var timestamp: Date { get }
  /// The changes, in order.
  var changes: [HistoryChange] { get }
  /// A bookmark after this transaction: greater tokens came later.
  var token: TokenType { get }
  /// The number of the transaction in its store; later ones are greater.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The store that was saved to.
  var storeIdentifier: String { get }
  /// The ``ModelContext/author`` of the context that saved.
  var author: String? { get }
}

/// The change of one model.
public enum HistoryChange: Sendable {
  /// The model was added.
  case insert(any HistoryInsert)
  /// Properties of the model were set.
  case update(any HistoryUpdate)
  /// The model was deleted.
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
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// The type of the transaction's identifier.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// The identifier of a change in its store, in the order of the changes.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

  /// The identifier of this change among all changes of the store.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction that the change belongs to.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier of the model, as ``ModelContext/model(for:)`` takes it.
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// Properties of a model were set.
public protocol HistoryUpdate<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// The type of the transaction's identifier.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// The identifier of a change in its store, in the order of the changes.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// A property that was set.
  typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

  /// The identifier of this change among all changes of the store.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction that the change belongs to.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier of the model, as ``ModelContext/model(for:)`` takes it.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The attributes and relationships that were set.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// A model was deleted.
public protocol HistoryDelete<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// The type of the transaction's identifier.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// The identifier of a change in its store, in the order of the changes.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable

  /// The identifier of this change among all changes of the store.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction that the change belongs to.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier that the model had.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The remains of the model: the values of its attributes marked `.preserveValueOnDeletion`.
  var tombstone: HistoryTombstone<Model> { get }
}
