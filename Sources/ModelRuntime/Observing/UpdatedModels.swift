/// The models whose values have changed since a cursor last read them.
///
/// The cursor holds it, and the observed results do not: so they record nothing for a freed cursor.
final class UpdatedModels<Element: PersistentModel> {
  private(set) var byID: [ObjectIdentifier: Element] = [:]

  func record(_ model: Element) { byID[ObjectIdentifier(model)] = model }
  func removeAll() { byID = [:] }
}

/// The lists of updated models, of all existing cursors.
struct UpdateLists<Element: PersistentModel> {
  private struct Entry { weak var list: UpdatedModels<Element>? }

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  mutating func makeList() -> UpdatedModels<Element> {
    entries.removeAll { $0.list == nil }
    let list = UpdatedModels<Element>()
    entries.append(Entry(list: list))
    return list
  }

  /// Records a model in each list.
  mutating func record(_ model: Element) {
    var isAnyGone = false
    for entry in entries {
      if let list = entry.list { list.record(model) } else { isAnyGone = true }
    }
    if isAnyGone { entries.removeAll { $0.list == nil } }
  }
}
