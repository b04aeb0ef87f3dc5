/// Values by the ordinals of properties: seldom any, mostly one, which needs no allocation.
struct OrdinalMap<Value> {
  private var first: (ordinal: Int, value: Value)?
  private var others: [(ordinal: Int, value: Value)] = []

  init() {}

  var isEmpty: Bool { first == nil }
  var count: Int { first == nil ? 0 : 1 + others.count }

  /// The value of a property; setting `nil` removes it.
  subscript(ordinal: Int) -> Value? {
    get {
      guard let first else { return nil }
      if first.ordinal == ordinal { return first.value }
      return others.first { $0.ordinal == ordinal }?.value
    }
    set {
      let isFirst = first.map { $0.ordinal == ordinal } ?? true
      if let newValue {
        if isFirst {
          first = (ordinal, newValue)
        } else if let place = others.firstIndex(where: { $0.ordinal == ordinal }) {
          others[place].value = newValue
        } else {
          others.append((ordinal, newValue))
        }
      } else if isFirst {
        // The others are filled only after the first.
        first = others.popLast()
      } else {
        others.removeAll { $0.ordinal == ordinal }
      }
    }
  }

  /// The values with their ordinals, in no order.
  var elements: [(ordinal: Int, value: Value)] { first.map { [$0] + others } ?? [] }
}

extension OrdinalMap: Sendable where Value: Sendable {}
