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
    var reading = FetchReading(of: T.self)
    for source in sources ?? [] {
      if let expression = source.expression { reading.add(expression) }
    }
    if sources?.allSatisfy({ $0.expression != nil }) != true { reading.addAnything() }
    return try holdingState(of: connection) {
      try self.reading(descriptor) { models in
        models.first?._$state.context?.refreshOthers(readBy: reading, from: models, in: connection)
        return try body(models)
      }
    }
  }
}
