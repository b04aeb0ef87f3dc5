import Foundation
import RowFormat

/// A look-up of a class's models by the value of an attribute, for repeated use with different values.
package final class AttributeLookUp: Sendable {
  /// The class of the models; subclasses are included.
  package let type: ModelDescriptor
  package let reading: ColumnReading
  private let path: RowPath

  /// Fails if a predicate asks for anything else, or if the attribute's values compare differently here than in Swift.
  ///
  /// - Parameters:
  ///   - expression: A translated predicate.
  ///   - type: The class of its models.
  init?(_ expression: QueryExpression, of type: ModelDescriptor) {
    guard
      case .comparison(.equal, .column(let path, let reading), .constant, let kind) = expression,
      path.level == 0, path.steps.isEmpty, path.descriptor === type, reading.kind == kind,
      reading.enumeration == nil
    else { return nil }
    switch kind {
    case .text, .integer, .unsigned, .uuid: break
    case .bool, .double, .float, .date, .url, .bytes, .identifier: return nil
    }
    self.type = type
    self.path = path
    self.reading = reading
  }

  /// The predicate for a value.
  package func expression(for value: QueryValue) -> QueryExpression {
    .comparison(.equal, .column(path, reading), .constant(value), reading.kind)
  }
}
