/// A to-one column of a table, and the one with the ranks beside it.
struct ReferenceColumn: Hashable, Sendable {
  let table: UInt16
  let column: Int
  let rankColumn: Int?
}
