import LogEngine
import RowFormat
import Terminal

extension InspectedStore {
  /// The row that arguments name: `Trip 17` or `Trip/17`.
  func row(_ arguments: [String]) throws(ToolError) -> (table: String, RowReference) {
    let parts = arguments.flatMap { $0.split(separator: "/", maxSplits: 1).map(String.init) }
    guard parts.count == 2 else {
      throw ToolError(
        "a row is named by its entity and its key",
        expected: "Trip 17, or Trip/17",
        found: arguments.joined(separator: " ").printable
      )
    }
    let table = try table(named: parts[0])
    guard let key = UInt64(parts[1]), 1...RowReference.maximumKey ~= key else {
      throw ToolError(
        "that is no key",
        expected: "a number from 1 to \(RowReference.maximumKey)",
        found: parts[1].printable
      )
    }
    return (table.name, RowReference(table: table.number, key: key))
  }
}
