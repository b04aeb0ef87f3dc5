/// A difference between a store and the oracle.
struct Violation: Error, CustomStringConvertible, Codable, Sendable {
  /// The sorts of violation; a smaller schedule shows the same violation if it shows one of its sort.
  enum Sort: String, Codable, Sendable {
    case rows, attribute, toOne, listMembers, listOrder, fetch, count, isDeleted, observer
    case saveThrew, saveDidNotThrow, missingModel, error, leak, invariant, undo, history
    case crash, hang
  }

  var sort: Sort
  var message: String
  var step = 0
  var operation: Operation?

  init(_ sort: Sort, _ message: String) {
    self.sort = sort
    self.message = message
  }

  func at(_ step: Int, _ operation: Operation?) -> Violation {
    var copy = self
    copy.step = step
    copy.operation = operation
    return copy
  }

  var description: String { "\(sort.rawValue): \(message)" }
}
