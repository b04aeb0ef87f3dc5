import Foundation
import RowFormat

extension ModelContext {
  /// Reads the models of a fetch, and values of them and of what they lead to, as of one state of their store.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - sources: The values that are read; `nil` if that is unknown.
  ///   - body: Receives the models, as in ``reading(_:_:)``.
  /// - Returns: The result of `body`.
  /// - Throws: As ``reading(_:_:)``.
  func reading<T: PersistentModel, R>(
    _ descriptor: FetchDescriptor<T>,
    with sources: [AggregateRequest.Source]?,
    _ body: ([T]) throws -> R
  ) throws -> R {
    guard let connection = try onlyConnection(for: descriptor) else {
      return try reading(descriptor, body)
    }
    let reading = FetchReading(of: T.self, sources)
    return try holdingState(of: connection) {
      try self.reading(descriptor) { models in
        models.first?._$state.context?.refreshOthers(readBy: reading, from: models, in: connection)
        return try body(models)
      }
    }
  }

  /// Reads models of this context, of which some values are stored ones, as of one state of their store.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - sources: The stored values that are read, beside others.
  ///   - body: Receives the models.
  /// - Returns: The result of `body`.
  /// - Throws: As ``fetch(_:)``, or the error of `body`.
  func readingOwn<T: PersistentModel, R>(
    _ descriptor: FetchDescriptor<T>,
    with sources: [AggregateRequest.Source],
    _ body: ([T]) throws -> R
  ) throws -> R {
    guard let connection = try onlyConnection(for: descriptor) else {
      return try body(fetch(descriptor))
    }
    return try holdingState(of: connection) {
      let models = try fetch(descriptor)
      refreshOthers(readBy: FetchReading(of: T.self, sources), from: models, in: connection)
      return try body(models)
    }
  }
}

extension FetchReading {
  /// What is read of models that are measured, or of which values are fetched.
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - sources: The values that are read; `nil` if that is unknown.
  fileprivate init(of type: any PersistentModel.Type, _ sources: [AggregateRequest.Source]?) {
    self.init(of: type)
    for source in sources ?? [] {
      if let expression = source.expression { add(expression) }
    }
    if sources?.allSatisfy({ $0.expression != nil }) != true { addAnything() }
  }
}
