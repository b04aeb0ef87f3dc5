/// A value that rows are grouped by: as in a `Set`, but with one NaN.
struct DatumKey: Hashable {
  let value: Datum

  init(_ value: Datum) { self.value = value }

  static func == (lhs: DatumKey, rhs: DatumKey) -> Bool {
    lhs.value == rhs.value || lhs.isNaN && rhs.isNaN
  }

  func hash(into hasher: inout Hasher) {
    if isNaN { return hasher.combine(0x7FF8) }
    value.hash(into: &hasher)
  }

  private var isNaN: Bool {
    switch value {
    case .double(let number), .date(let number): number.isNaN
    default: false
    }
  }
}
