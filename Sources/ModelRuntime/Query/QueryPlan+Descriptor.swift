import Foundation

extension QueryPlan {
  /// Makes a plan that has only the question.
  package init<T: PersistentModel>(
    _ question: Question,
    _ descriptor: FetchDescriptor<T>,
    store: String
  ) {
    let isOrdered = question != .count && question != .aggregate
    self.init(
      question: question,
      entity: Schema.entityName(for: T.self),
      predicate: descriptor.predicate.map { predicate in
        (try? QueryExpression(predicate)).map(\.sourceText) ?? "(tested on objects)"
      },
      sort: isOrdered ? descriptor.sortBy.map(\.planText) : [],
      limit: descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil },
      offset: descriptor.fetchOffset.flatMap { $0 > 0 ? $0 : nil },
      store: store
    )
  }
}

extension SortDescriptor where Compared: PersistentModel {
  fileprivate var planText: String {
    let name = (try? RowOrdering([self]))?.keys.first?.source.name ?? "(a key of objects)"
    return order == .reverse ? "\(name) descending" : name
  }
}
