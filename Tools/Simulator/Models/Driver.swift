import Foundation
import SwiftData

/// The operations on the models of one class, for code that knows only their kind.
protocol Driving {
  /// Runs a query with the call that it names.
  func run(_ query: Query, in context: ModelContext) throws -> Answer
  func model(_ key: Int, in context: ModelContext) throws -> (any SimulatedModel)?
  func delete(_ query: Query.Condition, in context: ModelContext) throws
  func identifiers(in context: ModelContext) throws -> [PersistentIdentifier]
}

/// The result of a query.
enum Answer {
  case models([any SimulatedModel])
  case count(Int)
}

struct Driver<M: SimulatedModel>: Driving {
  typealias Field = any KeyPath<M, Int> & Sendable

  let key: Field
  let value: Field
  let group: Field
  let note: any KeyPath<M, String> & Sendable

  private func predicate(_ condition: Query.Condition) -> Predicate<M>? {
    func equal(_ field: Field, _ wanted: Int) -> Predicate<M> {
      Predicate<M> {
        PredicateExpressions.build_Equal(
          lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: field),
          rhs: PredicateExpressions.build_Arg(wanted)
        )
      }
    }
    switch condition {
    case .all, .word: return nil
    case .key(let wanted): return equal(key, wanted)
    case .group(let wanted): return equal(group, wanted)
    case .value(let wanted): return equal(value, wanted)
    case .valueAbove(let bound):
      return Predicate<M> { [value] in
        PredicateExpressions.build_Comparison(
          lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: value),
          rhs: PredicateExpressions.build_Arg(bound),
          op: .greaterThan
        )
      }
    case .groupAndValueAbove(let wanted, let bound):
      return Predicate<M> { [value, group] in
        PredicateExpressions.build_Conjunction(
          lhs: PredicateExpressions.build_Equal(
            lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: group),
            rhs: PredicateExpressions.build_Arg(wanted)
          ),
          rhs: PredicateExpressions.build_Comparison(
            lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: value),
            rhs: PredicateExpressions.build_Arg(bound),
            op: .greaterThan
          )
        )
      }
    }
  }

  private func descriptor(_ query: Query) -> FetchDescriptor<M> {
    let sort: [SortDescriptor<M>] =
      switch query.sort {
      case .none: []
      case .key: [SortDescriptor(key)]
      case .value: [SortDescriptor(value), SortDescriptor(key)]
      case .groupDescending: [SortDescriptor(group, order: .reverse), SortDescriptor(key)]
      }
    var descriptor = FetchDescriptor<M>(predicate: predicate(query.condition), sortBy: sort)
    descriptor.fetchLimit = query.limit
    descriptor.fetchOffset = query.offset
    return descriptor
  }

  func run(_ query: Query, in context: ModelContext) throws -> Answer {
    let descriptor = descriptor(query)
    if case .word(let word) = query.condition {
      let text = TextQuery("n\(word)")
      return .models(try context.search(FetchDescriptor<M>(), for: text, in: note).map(\.model))
    }
    switch query.call {
    case .fetch: return .models(try context.fetch(descriptor))
    case .count: return .count(try context.fetchCount(descriptor))
    case .identifiers:
      return .models(
        try context.fetchIdentifiers(descriptor).compactMap {
          context.model(for: $0) as? any SimulatedModel
        }
      )
    case .enumerate:
      var found: [any SimulatedModel] = []
      try context.enumerate(descriptor, batchSize: 3, allowEscapingMutations: true) {
        found.append($0)
      }
      return .models(found)
    }
  }

  func model(_ key: Int, in context: ModelContext) throws -> (any SimulatedModel)? {
    try context.fetch(FetchDescriptor<M>(predicate: predicate(.key(key)))).first
  }

  func identifiers(in context: ModelContext) throws -> [PersistentIdentifier] {
    try context.fetchIdentifiers(FetchDescriptor<M>())
  }

  func delete(_ condition: Query.Condition, in context: ModelContext) throws {
    try context.delete(model: M.self, where: predicate(condition))
  }
}

extension Kind {
  var driver: any Driving {
    switch self {
    case .team: Driver<Team>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .player: Driver<Player>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .captain: Driver<Captain>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .deal: Driver<Deal>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .badge: Driver<Badge>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .locker: Driver<Locker>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .author: Driver<Author>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .book: Driver<Book>(key: \.key, value: \.value, group: \.group, note: \.note)
    case .tag: Driver<Tag>(key: \.key, value: \.value, group: \.group, note: \.note)
    }
  }
}
