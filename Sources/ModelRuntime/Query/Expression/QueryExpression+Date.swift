package import Foundation

extension QueryExpression {
  /// Makes the test whether a date of the tested row is before another date; nil is not.
  ///
  /// - Parameters:
  ///   - property: An attribute of the row's class.
  ///   - descriptor: The class; rows of subclasses can be tested, too.
  ///   - date: The date that the row's own must precede.
  /// - Returns: `nil` if the attribute is not stored as a date.
  package static func date(
    _ property: ModelProperty,
    of descriptor: ModelDescriptor,
    isBefore date: Date
  ) -> QueryExpression? {
    guard !property.isRelationship, let reading = ColumnReading(property), reading.kind == .date,
      reading.enumeration == nil
    else { return nil }
    return .comparison(
      .less,
      .column(RowPath(level: 0, descriptor: descriptor), reading),
      .constant(.double(date.timeIntervalSinceReferenceDate)),
      .date
    )
  }
}
