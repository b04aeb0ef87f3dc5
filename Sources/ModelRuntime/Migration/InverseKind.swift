/// What is at the other end of a relationship; raw values are in stores.
package enum InverseKind: String, Codable, Sendable {
  case none, one, many
}

extension ModelProperty {
  package var inverseKind: InverseKind {
    guard let inverse else { return .none }
    return inverse.isToMany ? .many : .one
  }
}
