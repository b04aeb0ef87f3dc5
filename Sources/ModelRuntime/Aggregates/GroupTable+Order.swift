import Foundation

extension GroupTable {
  /// The groups in the order of their keys: nil first, and NaN before all numbers.
  func sortedGroups() -> [Int] {
    if request.keys.isEmpty { return [0] }
    let kinds = request.keys.map { $0.bucket?.kind ?? $0.kind }
    let columns = kinds.compactMap(\.sortColumnOfKeys)
    if columns.count < kinds.count { return sortedGroupsByComparing(as: kinds) }
    var sorted = SortKeys(columns)
    for group in 0..<count {
      for part in kinds.indices {
        sorted.append(key(part, of: group).sortKey, toColumn: part)
      }
    }
    return sorted.sorted()
  }

  private func sortedGroupsByComparing(as kinds: [QueryKind]) -> [Int] {
    (0..<count).sorted { lhs, rhs in
      for (index, kind) in kinds.enumerated() {
        let (left, right) = (key(index, of: lhs), key(index, of: rhs))
        if left == right { continue }
        return left.precedes(right, as: kind)
      }
      return lhs < rhs
    }
  }
}

extension KeyValue {
  /// The key as a value that sorts as keys of groups do.
  fileprivate var sortKey: QueryValue {
    switch value {
    case .bool(let value): .integer(value ? 1 : 0)
    // NaN comes before all numbers.
    case .double(let value) where value.isNaN: .integer(.min)
    case .double(let value): .integer((value + 0).orderedBits)
    default: value
    }
  }
}

extension Double {
  /// An integer that has the same order: the bits, which are in reverse for negative numbers.
  fileprivate var orderedBits: Int64 {
    let bits = Int64(bitPattern: bitPattern)
    return bits < 0 ? bits ^ .max : bits
  }
}

extension QueryKind {
  /// A column for the keys of groups of this kind; `nil` if only comparing them one by one tells their order.
  fileprivate var sortColumnOfKeys: SortColumn? {
    switch self {
    case .integer, .bool, .double, .float, .date: SortColumn(kind: .integer, order: .forward)
    case .unsigned, .text, .uuid: SortColumn(kind: self, order: .forward)
    default: nil
    }
  }
}
