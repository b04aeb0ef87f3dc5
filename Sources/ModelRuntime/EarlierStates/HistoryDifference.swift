import Foundation
import RowFormat

/// What the transactions between two states did to models, taken together.
public struct HistoryDifference: Sendable {
  /// The models that are there only in the later state, in the order in which they were first saved.
  public private(set) var inserted: [PersistentIdentifier] = []
  /// The models that are there in both and were changed between, in the order of their first changes.
  public private(set) var updated: [Update] = []
  /// The models that are there only in the earlier state, in the order in which they were deleted.
  public private(set) var deleted: [PersistentIdentifier] = []

  /// Whether nothing was changed.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// A model that was changed.
  public struct Update: Sendable {
    /// The model.
    public let identifier: PersistentIdentifier
    private let descriptor: ModelDescriptor
    private(set) var columns: ColumnSet

    init(_ identifier: PersistentIdentifier, _ descriptor: ModelDescriptor, _ columns: ColumnSet) {
      self.identifier = identifier
      self.descriptor = descriptor
      self.columns = columns
    }

    /// The names of the attributes and relationships that were set, inherited ones included, in the order of their
    /// declaration.
    ///
    /// One that was set to what it had been before is among them. Of a model with more than 63 properties, those beyond the
    /// 63rd count as set together.
    public var properties: [String] {
      descriptor.properties.compactMap { columns.contains($0.ordinal) ? $0.name : nil }
    }

    /// Whether a property was set.
    ///
    /// - Parameter property: An attribute or a relationship, the class's own or an inherited one.
    /// - Returns: Whether it was set; `false` for what is not stored.
    public func sets<Model: PersistentModel>(_ property: PartialKeyPath<Model>) -> Bool {
      descriptor.ownOrInheritedProperty(for: property).map { columns.contains($0.ordinal) } ?? false
    }

    fileprivate mutating func add(_ other: ColumnSet) { columns.formUnion(other) }
  }

  /// The same from the later state to the earlier one.
  var inverted: HistoryDifference {
    var inverted = self
    swap(&inverted.inserted, &inverted.deleted)
    return inverted
  }

  /// Adds what became of the models of other stores.
  func joined(with other: HistoryDifference) -> HistoryDifference {
    var joined = self
    joined.inserted += other.inserted
    joined.updated += other.updated
    joined.deleted += other.deleted
    return joined
  }

  /// Takes the changes of transactions together, from the oldest to the newest.
  init(of transactions: some Sequence<DefaultHistoryTransaction>) {
    var fates = ModelFates()
    for change in transactions.lazy.flatMap(\.changes) { fates.add(change) }
    for (identifier, fate) in fates.inOrder {
      switch fate {
      case .inserted: inserted.append(identifier)
      case .updated(let update): updated.append(update)
      case .deleted: deleted.append(identifier)
      case .passing: break
      }
    }
  }
}

/// What became of models.
private struct ModelFates {
  enum Fate {
    case inserted
    case updated(HistoryDifference.Update)
    case deleted
    /// Inserted, and deleted again.
    case passing
  }

  private var places: [PersistentIdentifier: Int] = [:]
  private(set) var inOrder: [(PersistentIdentifier, Fate)] = []

  mutating func add(_ change: HistoryChange) {
    let identifier = change.changedPersistentIdentifier
    switch change {
    case .insert: set(.inserted, of: identifier)
    case .update(let update):
      guard let place = places[identifier] else {
        return set(.updated(HistoryDifference.Update(update)), of: identifier)
      }
      guard case .updated(var known) = inOrder[place].1 else { return }
      known.add(update.columns)
      inOrder[place].1 = .updated(known)
    case .delete:
      guard let place = places[identifier] else { return set(.deleted, of: identifier) }
      if case .inserted = inOrder[place].1 {
        inOrder[place].1 = .passing
      } else {
        // Deleted models come in the order of their deletion.
        inOrder[place].1 = .passing
        places[identifier] = nil
        set(.deleted, of: identifier)
      }
    }
  }

  private mutating func set(_ fate: Fate, of identifier: PersistentIdentifier) {
    places[identifier] = inOrder.count
    inOrder.append((identifier, fate))
  }
}

extension HistoryDifference.Update {
  fileprivate init(_ update: some HistoryUpdate) {
    self.init(update.changedPersistentIdentifier, update.descriptor, update.columns)
  }
}

extension HistoryUpdate {
  var descriptor: ModelDescriptor { .of(Model.self) }

  /// The columns that were set.
  var columns: ColumnSet {
    (self as? DefaultHistoryUpdate<Model>)?.columns ?? ColumnSet()
  }
}

extension ModelContext {
  /// What the transactions between two states did to models, taken together.
  ///
  ///     let difference = try context.difference(from: lastSeen)
  ///     for update in difference.updated where update.sets(\Trip.name) { … }
  ///
  /// The values are in the contexts of both states: `ModelContext(container, asOf: token)`.
  ///
  /// Transactions that were deleted from the history are unknown: models that one of them inserted or deleted between the two
  /// states are missing, or are reported as updated.
  ///
  /// - Parameters:
  ///   - earlier: The token of the one state.
  ///   - later: The token of the other, the newest if `nil`. If it is the earlier of the two, the difference is that of going
  ///     back; so it is in each of several stores.
  /// - Returns: What is different; unsaved changes are not part of it.
  /// - Throws: As ``fetchHistory(_:)``, and ``SwiftDataError/historyTokenExpired`` for a token of other stores, or of a later
  ///   state than a store has.
  /// - Complexity: O(changes saved between the two).
  public func difference(
    from earlier: DefaultHistoryToken,
    to later: DefaultHistoryToken? = nil
  ) throws -> HistoryDifference {
    try coordinator.checkIsKnown(earlier)
    let difference = HistoryDifference(
      of: try fetchHistory(HistoryDescriptor(after: earlier, through: later))
    )
    guard let later else { return difference }
    try coordinator.checkIsKnown(later)
    // The stores of which the second token is behind less. Where it is behind what a store does not have, this throws.
    let back = try fetchHistory(HistoryDescriptor(after: later, through: earlier))
    return difference.joined(with: HistoryDifference(of: back).inverted)
  }
}

extension HistoryDescriptor<DefaultHistoryTransaction> {
  /// Asks for the transactions behind one token, and up to another, from the oldest to the newest.
  ///
  /// As `#Predicate` writes it: in this module that name is our macro's, which is for models.
  init(after first: DefaultHistoryToken, through last: DefaultHistoryToken?) {
    guard let last else {
      self.init(
        predicate: Predicate {
          PredicateExpressions.build_Comparison(
            lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.token),
            rhs: PredicateExpressions.build_Arg(first),
            op: .greaterThan
          )
        }
      )
      return
    }
    self.init(
      predicate: Predicate {
        PredicateExpressions.build_Conjunction(
          lhs: PredicateExpressions.build_Comparison(
            lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.token),
            rhs: PredicateExpressions.build_Arg(first),
            op: .greaterThan
          ),
          rhs: PredicateExpressions.build_Comparison(
            lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.token),
            rhs: PredicateExpressions.build_Arg(last),
            op: .lessThanOrEqual
          )
        )
      }
    )
  }
}
