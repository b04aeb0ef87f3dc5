/// Finds the probable meaning of a misspelt name.
public enum NearestName {
  /// The candidate that takes the fewest edits, if these are few for the length of the name, or else the only one that
  /// begins with it.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    let distances = candidates.map { ($0, distance(fold(name), fold($0))) }
    guard let nearest = distances.min(by: { $0.1 < $1.1 }) else { return nil }
    if nearest.1 <= max(1, name.count / 3) { return nearest.0 }
    let begun = candidates.filter { $0.lowercased().hasPrefix(name.lowercased()) }
    return begun.count == 1 && name.count > 1 ? begun[0] : nil
  }

  private static func fold(_ name: String) -> [Character] { Array(name.lowercased()) }

  /// The number of insertions, deletions, replacements and swaps of neighbours that turn one into the other.
  public static func distance(_ from: [Character], _ to: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...to.count)
    for (row, character) in from.enumerated() {
      var current = [row + 1]
      for (column, other) in to.enumerated() {
        var cost = min(
          last[column] + (character == other ? 0 : 1),
          last[column + 1] + 1,
          current[column] + 1
        )
        if row > 0, column > 0, character == to[column - 1], from[row - 1] == other {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[to.count]
  }
}
