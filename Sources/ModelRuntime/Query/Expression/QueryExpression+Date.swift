package import Foundation

extension QueryExpression {
  /// Whether a date of the tested row lies before another date; nil does not.
  ///
  /// - Parameters:
  ///   - property: An attribute of the row's class.
  ///   - descriptor: That class; rows of subclasses can be tested, too.
  ///   - date: The date, which the row's own must be before.
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
