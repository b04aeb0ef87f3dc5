import Foundation
import RowFormat

/// The question which models of a class have a value in an attribute: asked again and again, for one value after the other.
package final class AttributeLookUp: Sendable {
  /// The class of the models; those of its subclasses are wanted, too.
  package let type: ModelDescriptor
  package let reading: ColumnReading
  private let path: RowPath

  /// Fails if a predicate asks for anything else, or values of the attribute are not equal exactly if they are here.
  ///
  /// - Parameters:
  ///   - expression: A translated predicate.
  ///   - type: The class it is about.
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
