import Foundation
import ModelRuntime

/// A test for the expired rows of a class and its subclasses.
struct ExpirationRule: Sendable {
  /// The class.
  let model: ModelDescriptor
  /// Its attribute that is a date.
  let property: ModelProperty
  /// The time from the date to the expiration of a row, in seconds.
  private let seconds: TimeInterval

  /// - Returns: `nil` for an attribute that is not stored as a date.
  init?(_ model: ModelDescriptor, _ property: ModelProperty, _ duration: Duration) {
    guard QueryExpression.date(property, of: model, isBefore: .distantPast) != nil else {
      return nil
    }
    self.model = model
    self.property = property
    seconds = duration / .seconds(1)
  }

  /// The test of a row: whether it has expired at a time.
  func test(at now: Date) -> QueryExpression {
    guard let test = QueryExpression.date(property, of: model, isBefore: now - seconds) else {
      preconditionFailure("\(model.entityName).\(property.name) was a date, and is none any more")
    }
    return test
  }
}
