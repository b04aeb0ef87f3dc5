import Foundation
import ModelRuntime

extension DataStoreContract {
  /// The clauses of ``/ModelRuntime/HistoryProviding``.
  static let history: [Clause] = [
    Clause("A store tells who changed what, save by save", of: .history) { stage in
      let names = try changeItems(try stage.open())
      let context = try stage.open()
      let transactions = try history(of: try stage.store(of: context), in: context)
        .filter { $0.author?.hasPrefix("contract ") == true }
      try expect(transactions.map(\.author), names.map(\.author), "the authors, in order")
      for (transaction, expected) in zip(transactions, names) {
        let found = transaction.changes.map { change in
          switch change {
          case .insert: "insert \(change.changedPersistentIdentifier)"
          case .update: "update \(change.changedPersistentIdentifier)"
          case .delete: "delete \(change.changedPersistentIdentifier)"
          }
        }
        try expect(found.sorted(), expected.changes.sorted(), "changes by \(expected.author ?? "")")
      }
      let times = transactions.map(\.timestamp)
      try expect(times, times.sorted(), "the times of the transactions ascend")
    },
    Clause("A store that forgets history keeps the models", of: .history) { stage in
      try changeItems(try stage.open())
      let context = try stage.open()
      try forgetHistory(of: try stage.store(of: context), in: context)
      let left = try history(of: try stage.store(of: context), in: context)
      try expect(left.filter { !$0.changes.isEmpty }.count, 0, "transactions that were forgotten")
      try expect(try only(Item.self, in: try stage.open()).name, "changed", "the name")
    },
  ]

  /// Inserts two items, changes one, deletes the other, each under a name.
  ///
  /// - Returns: The transactions that the history must have.
  @discardableResult
  private static func changeItems(
    _ context: ModelContext
  ) throws -> [(author: String?, changes: [String])] {
    let (first, second) = (Item("first"), Item("second"))
    context.author = "contract inserts"
    context.insert(first)
    context.insert(second)
    try context.save()
    context.author = "contract updates"
    first.name = "changed"
    try context.save()
    context.author = "contract deletes"
    let identifiers = (first.persistentModelID, second.persistentModelID)
    context.delete(second)
    try context.save()
    return [
      ("contract inserts", ["insert \(identifiers.0)", "insert \(identifiers.1)"]),
      ("contract updates", ["update \(identifiers.0)"]),
      ("contract deletes", ["delete \(identifiers.1)"]),
    ]
  }

  private static func history(
    of store: any DataStore,
    in context: ModelContext
  ) throws -> [any HistoryTransaction] {
    func fetch<S: HistoryProviding>(_: S) throws -> [any HistoryTransaction] {
      try context.fetchHistory(HistoryDescriptor<S.HistoryType>())
    }
    guard let store = store as? any HistoryProviding else { return [] }
    return try fetch(store)
  }

  private static func forgetHistory(of store: any DataStore, in context: ModelContext) throws {
    func forget<S: HistoryProviding>(_: S) throws {
      try context.deleteHistory(HistoryDescriptor<S.HistoryType>())
    }
    if let store = store as? any HistoryProviding { try forget(store) }
  }
}
