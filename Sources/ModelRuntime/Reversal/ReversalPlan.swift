import RowFormat

/// What became, up to now, of the models of one store that some transactions have changed.
struct ReversalPlan {
  /// A transaction that is in the way.
  struct Contender {
    let transaction: Int64
    let author: String?
  }

  /// What became of one property, once one of the transactions had set it.
  struct PropertyFate {
    /// Transactions that set the property and are all to be taken back, with none between that is not.
    struct Run {
      let first: Int64
      var last: Int64
      /// Who else has set the property last before the run, but behind the one before it.
      let predecessor: Contender?
    }

    /// The runs, the oldest first; more than one only where others came between.
    var runs: [Run]
    /// Who has set the property behind the last run.
    var contender: Contender?
  }

  /// What became of one model.
  struct ModelFate {
    let identifier: PersistentIdentifier
    let descriptor: ModelDescriptor
    /// Whether it was inserted by a transaction that is to be taken back.
    var isInserted = false
    /// Who else has changed it after it was inserted.
    var contender: Contender?
    var ending = Ending.isThere
    /// By ordinal; of one that was inserted, those that were set later.
    var properties: [Int: PropertyFate] = [:]

    enum Ending {
      case isThere
      /// Deleted by a transaction that is to be taken back.
      case deleted(by: Int64)
      /// Deleted by another one.
      case isGone(Contender)
    }
  }

  /// The models, in the order in which the transactions changed them first.
  private(set) var fates: [ModelFate] = []
  private var places: [PersistentIdentifier: Int] = [:]
  /// Where others set a relationship that has no inverse, the oldest first.
  private(set) var looseChanges: [LooseChange] = []

  /// A relationship without an inverse, set by others.
  struct LooseChange {
    let owner: PersistentIdentifier
    let property: ModelProperty
    let contender: Contender
  }

  /// - Parameters:
  ///   - transactions: All transactions of the store from the first one that is to be taken back, the oldest first.
  ///   - numbers: Which are to be taken back.
  init(_ transactions: some Sequence<DefaultHistoryTransaction>, takingBack numbers: Set<Int64>) {
    for transaction in transactions {
      let number = transaction.transactionIdentifier
      let contender =
        numbers.contains(number) ? nil : Contender(transaction: number, author: transaction.author)
      for change in transaction.changes {
        if let contender {
          note(change, by: contender)
        } else {
          take(change, in: number)
        }
      }
    }
  }

  /// What became of a model that the transactions have changed; `nil` for others.
  subscript(identifier: PersistentIdentifier) -> ModelFate? {
    places[identifier].map { fates[$0] }
  }

  private mutating func take(_ change: HistoryChange, in number: Int64) {
    let place = place(of: change)
    if case .insert = change { fates[place].isInserted = true }
    if case .delete = change { fates[place].ending = .deleted(by: number) }
    guard case .update(let update) = change else { return }
    for ordinal in update.ordinals {
      fates[place].properties[ordinal, default: PropertyFate(runs: [])].set(by: number)
    }
  }

  private mutating func note(_ change: HistoryChange, by contender: Contender) {
    noteLooseChanges(change, by: contender)
    guard let place = places[change.changedPersistentIdentifier] else { return }
    switch change {
    case .insert: break
    case .delete: fates[place].ending = .isGone(contender)
    case .update(let update):
      fates[place].contender = contender
      for ordinal in update.ordinals { fates[place].properties[ordinal]?.contender = contender }
    }
  }

  private mutating func noteLooseChanges(_ change: HistoryChange, by contender: Contender) {
    guard case .update(let update) = change else { return }
    let columns = update.columns
    for property in update.descriptor.relationships
    where property.inverse == nil && columns.contains(property.ordinal) {
      looseChanges.append(
        LooseChange(
          owner: change.changedPersistentIdentifier,
          property: property,
          contender: contender
        )
      )
    }
  }

  private mutating func place(of change: HistoryChange) -> Int {
    let identifier = change.changedPersistentIdentifier
    if let place = places[identifier] { return place }
    places[identifier] = fates.count
    fates.append(ModelFate(identifier: identifier, descriptor: change.descriptor))
    return fates.count - 1
  }
}

extension ReversalPlan.PropertyFate {
  /// Who else has set the property last, behind a transaction.
  func contender(behind transaction: Int64) -> ReversalPlan.Contender? {
    if let contender { return contender }
    return runs.last?.predecessor.flatMap { $0.transaction > transaction ? $0 : nil }
  }

  fileprivate mutating func set(by number: Int64) {
    if contender == nil, !runs.isEmpty {
      runs[runs.count - 1].last = number
    } else {
      runs.append(Run(first: number, last: number, predecessor: contender))
      contender = nil
    }
  }
}

extension HistoryChange {
  fileprivate var descriptor: ModelDescriptor {
    switch self {
    case .insert(let insert): insert.descriptor
    case .update(let update): update.descriptor
    case .delete(let delete): delete.descriptor
    }
  }
}

extension HistoryUpdate {
  /// The ordinals of the properties that were set.
  fileprivate var ordinals: [Int] {
    let columns = columns
    return descriptor.properties.lazy.map(\.ordinal).filter(columns.contains)
  }
}

extension HistoryInsert {
  fileprivate var descriptor: ModelDescriptor { .of(Model.self) }
}

extension HistoryDelete {
  fileprivate var descriptor: ModelDescriptor { .of(Model.self) }
}
