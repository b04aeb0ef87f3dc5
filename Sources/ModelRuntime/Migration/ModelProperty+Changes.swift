// What a property may differ in from that of an earlier version, though stores keep the values alike.

extension ModelProperty {
  /// Which side stores the membership of a list.
  package var listKeeping: String {
    guard isDerivable, let inverse else { return "with its owner" }
    return "with its members, in \(inverse.name)"
  }
}
