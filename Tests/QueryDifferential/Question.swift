import Foundation
import ModelRuntime

/// A fetch: a predicate, a sort and a page.
struct Question {
  var predicate: Node<Bool>?
  var sort: [SortKey]
  var limit: Int?
  var offset: Int?

  static func random(
    _ random: inout Chance,
    mayNeedObjects: Bool = true,
    makers: [Int: PersistentIdentifier] = [:]
  ) -> Question {
    var generator = Generator(
      Chance(seed: random.next()),
      mayNeedObjects: mayNeedObjects,
      makers: makers
    )
    let predicate = random.percent(93) ? generator.predicate() : nil
    let sort = (0..<random.pick([0, 0, 1, 1, 1, 2, 3])).map { _ in SortKey.random(&random) }
    return Question(
      predicate: predicate,
      sort: sort,
      limit: random.percent(45) ? random.pick([1, 2, 5, 20, 1000]) : nil,
      offset: random.percent(30) ? random.pick([0, 1, 3, 20, 70]) : nil
    )
  }

  var descriptor: FetchDescriptor<Piece> {
    var descriptor = FetchDescriptor<Piece>(
      predicate: predicate.map { test in Predicate { test.build(Variables(piece: $0)) } },
      sortBy: sort.map(\.descriptor)
    )
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    return descriptor
  }

  /// The fetch as Swift.
  var swift: String {
    var lines = ["var descriptor = FetchDescriptor<Piece>("]
    if let predicate { lines.append("  predicate: #Predicate { piece in \(predicate.swift) },") }
    lines.append("  sortBy: [\(sort.map(\.swift).joined(separator: ", "))]")
    lines.append(")")
    if let limit { lines.append("descriptor.fetchLimit = \(limit)") }
    if let offset { lines.append("descriptor.fetchOffset = \(offset)") }
    return lines.joined(separator: "\n")
  }

  /// Questions that are a little simpler.
  var simpler: [Question] {
    var questions: [Question] = []
    func add(_ change: (inout Question) -> Void) {
      var question = self
      change(&question)
      questions.append(question)
    }
    if limit != nil { add { $0.limit = nil } }
    if offset != nil { add { $0.offset = nil } }
    for index in sort.indices { add { $0.sort.remove(at: index) } }
    if let predicate {
      add { $0.predicate = nil }
      for test in predicate.simpler() { add { $0.predicate = test } }
    }
    return questions
  }
}

// MARK: The oracle

extension Question {
  /// The serial numbers of the pieces that are to be found, in order.
  ///
  /// A piece with unsaved changes is asked as it is now; any other by what is saved, which only differs where it reads
  /// other models.
  func answer(on truth: Truth, rowOrder: [Int]) -> [Int] {
    var found: [PieceRecord] = []
    for serial in rowOrder + truth.inserted {
      guard let piece = truth.now.pieces[serial] else { continue }
      let isUnsaved = truth.changed.contains(serial) || truth.saved.pieces[serial] == nil
      let world = isUnsaved ? truth.now : truth.saved
      if holds(for: Frame(world: world, piece: piece)) { found.append(piece) }
    }
    return page(of: found)
  }

  /// Whether the predicate holds; without an answer it does not.
  func holds(for frame: Frame) -> Bool {
    guard let predicate else { return true }
    return (try? predicate.value(frame)) ?? false
  }

  /// Sorts records, equal ones as they come, and cuts the list.
  private func page(of records: [PieceRecord]) -> [Int] {
    let sorted = records.enumerated().sorted { lhs, rhs in
      for key in sort {
        let order = key.compare(lhs.element, rhs.element)
        if order != 0 { return order < 0 }
      }
      return lhs.offset < rhs.offset
    }
    let rest = sorted.map(\.element.serial).dropFirst(offset ?? 0)
    return Array(limit.map { rest.prefix($0) } ?? rest)
  }
}

// MARK: Asking

/// A way to ask a context.
enum Call: String, CaseIterable {
  case fetch, count, identifiers, batches, enumerate, foundation

  /// The serial numbers that the context answers with; for a count, as many zeros.
  func answer(_ question: Question, in context: ModelContext, saved: World) throws -> [Int] {
    let descriptor = question.descriptor
    switch self {
    case .fetch: return try context.fetch(descriptor).map(\.serial)
    case .count: return Array(repeating: 0, count: try context.fetchCount(descriptor))
    case .identifiers:
      return try context.fetchIdentifiers(descriptor)
        .compactMap { (context.model(for: $0) as? Piece)?.serial }
    case .batches: return try context.fetch(descriptor, batchSize: 7).map(\.serial)
    case .enumerate:
      var serials: [Int] = []
      try context.enumerate(descriptor, batchSize: 11, allowEscapingMutations: true) {
        serials.append($0.serial)
      }
      return serials
    case .foundation:
      // Foundation's own evaluation, of objects without unsaved changes, where it has an answer.
      let other = ModelContext(context.container)
      guard let predicate = descriptor.predicate else { return [] }
      return try other.fetch(FetchDescriptor<Piece>()).filter { piece in
        guard let record = saved.pieces[piece.serial], let test = question.predicate,
          (try? test.value(Frame(world: saved, piece: record))) != nil
        else { return false }
        return try predicate.evaluate(piece)
      }.map(\.serial)
    }
  }

  /// What the oracle says that this call has to answer.
  func expected(_ question: Question, on state: Truth, rowOrder: [Int]) -> [Int] {
    switch self {
    case .count: Array(repeating: 0, count: question.answer(on: state, rowOrder: rowOrder).count)
    case .foundation:
      question.predicate == nil
        ? []
        : rowOrder.filter { serial in
          guard let piece = state.saved.pieces[serial] else { return false }
          // Foundation compares as Swift's operators do.
          return question.holds(for: Frame(world: state.saved, piece: piece, textOrder: .swift))
        }
    default: question.answer(on: state, rowOrder: rowOrder)
    }
  }
}
