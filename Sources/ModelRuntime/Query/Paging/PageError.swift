public import Foundation

/// The reason a page could not be fetched.
public enum PageError: Error, Hashable, Sendable {
  /// The text is not a token, or a damaged one.
  case malformedToken(expected: String, found: String)
  /// The token is of another entity.
  case otherEntity(expected: String, found: String)
  /// The token is of the same entity in another order.
  case otherSort(expected: String, found: String)
  /// The token ends at a model that was unsaved when it was made, and is not among this context's unsaved models.
  case unsavedModel(found: String)
  /// Models cannot be paged by this key: it is not a stored property with an order.
  case unsupportedSort(key: String)
  /// The descriptor has an offset, which would skip as many models of each page.
  case offset(Int)
  /// More than one store of the container keeps the entity, and a token names a place in one.
  case severalStores(entity: String)
}

extension PageError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .malformedToken(let expected, let found):
      "the page token cannot be read: expected \(expected), found \(found); fetch the first page, without a token"
    case .otherEntity(let expected, let found):
      "the page token is of another entity: expected one of \(expected), found one of \(found)"
    case .otherSort(let expected, let found):
      "the page token is of another order: expected one of \(expected), found one of \(found); "
        + "fetch the first page of the new order, without a token"
    case .unsavedModel(let found):
      "the page token names \(found), which is not among the unsaved models of this context: "
        + "save before paging, or fetch the first page again"
    case .unsupportedSort(let key):
      "models cannot be paged in the order of \(key): expected a stored property with an order of its own, "
        + "found one that is computed, coded or an enumeration; sort by another property"
    case .offset(let offset):
      "a page has no offset: expected fetchOffset to be nil, found \(offset); pass the token of the page before"
    case .severalStores(let entity):
      "models cannot be paged over several stores: expected one store of the container to keep \(entity), found more; "
        + "fetch with an offset and a limit, or open a container for each store"
    }
  }

  public var errorDescription: String? { description }
}
