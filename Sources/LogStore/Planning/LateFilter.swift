import ModelRuntime
import RowFormat

/// The test of a predicate, which is made when the first row is tested: an index may tell all.
///
/// One for a fetch, since it remembers what it found out about other rows.
final class LateFilter {
  private let expression: QueryExpression
  private let descriptor: ModelDescriptor
  private let resolver: StoreResolver
  private(set) lazy var filter = RowFilter(expression, descriptor: descriptor, resolver: resolver)

  init(_ expression: QueryExpression, _ descriptor: ModelDescriptor, _ resolver: StoreResolver) {
    self.expression = expression
    self.descriptor = descriptor
    self.resolver = resolver
  }
}
