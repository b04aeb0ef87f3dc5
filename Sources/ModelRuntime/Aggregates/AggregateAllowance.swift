/// Limit, in bytes, of the memory for the groups and values of one aggregate.
package struct AggregateAllowance: Sendable {
  /// The limit, in bytes.
  package let byteCount: Int
  /// The entity whose models are measured.
  package let entityName: String
  /// Number of tasks that measure parts of the rows at once and share the limit.
  private var sharerCount = 1

  package init(byteCount: Int, entityName: String) {
    (self.byteCount, self.entityName) = (byteCount, entityName)
  }

  package static let unlimited = AggregateAllowance(byteCount: .max, entityName: "")

  /// The share of each of two tasks that measure halves of the rows.
  package var half: AggregateAllowance {
    var half = self
    half.sharerCount *= 2
    return half
  }

  /// Checks the size of an aggregate against the limit.
  ///
  /// - Throws: ``SwiftDataError/aggregateTooLarge``.
  package func check(_ taken: Int, groupCount: Int) throws(SwiftDataError) {
    if taken > byteCount / sharerCount { throw tooLarge(groupCount: groupCount) }
  }

  private func tooLarge(groupCount: Int) -> SwiftDataError {
    let reached = groupCount == 1 ? "the values of one group" : "\(groupCount) groups so far"
    return .aggregateTooLarge.explained(
      "measuring \(entityName) takes more than \(byteCount) bytes, \(reached): measure fewer models at a time, by a "
        + "predicate, or in fewer groups, by ranges or parts of a date, or give it more by "
        + "`LogStoreConfiguration.aggregateMemoryLimit`",
      entity: entityName
    )
  }
}

extension KeyValue {
  /// Approximate memory of the value outside of itself, in bytes.
  package var heapByteCount: Int { value.heapByteCount }
}

extension QueryValue {
  /// Approximate memory of the value outside of itself, in bytes.
  package var heapByteCount: Int {
    switch self {
    // A short text is in the value.
    case .text(let text): text.utf8.count > 15 ? 32 + text.utf8.count : 0
    case .bytes(let bytes): 48 + bytes.count
    case .null, .bool, .integer, .double, .uuid, .identifier, .reference, .opaque: 0
    }
  }
}
