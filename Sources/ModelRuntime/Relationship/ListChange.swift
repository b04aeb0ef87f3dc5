/// What setting a list changes in it.
struct ListChange<Model: PersistentModel> {
  /// The new list, every model in it once.
  private(set) var result: [Model]
  private(set) var removed: [Model] = []
  private(set) var added: [Model] = []
  /// Whether the list was changed other than by removing members and appending others.
  private(set) var isReordered = false

  var isEmpty: Bool { removed.isEmpty && added.isEmpty && !isReordered }

  /// Compares two lists.
  ///
  /// - Complexity: O(*n*), and little of that for what both begin with.
  init(from old: [Model], to new: [Model]) {
    var start = 0
    while start < old.count, start < new.count, old[start] === new[start] { start += 1 }
    result = new
    if start == old.count, start == new.count { return }
    var kept: Set<ObjectIdentifier> = []
    if start < new.count {
      kept = Set(new[..<start].lazy.map { ObjectIdentifier($0) })
      var rest = new[start...]
      rest.removeAll { !kept.insert(ObjectIdentifier($0)).inserted }
      if rest.count < new.count - start { result = Array(new[..<start] + rest) }
    }
    let before = Set(old[start...].lazy.map { ObjectIdentifier($0) })
    var survivors: [Model] = []
    for member in old[start...] {
      if kept.contains(ObjectIdentifier(member)) {
        survivors.append(contentsOf: CollectionOfOne(member))
      } else {
        removed.append(contentsOf: CollectionOfOne(member))
      }
    }
    added = result[start...].filter { !before.contains(ObjectIdentifier($0)) }
    isReordered = !result[start...].starts(with: survivors) { $0 === $1 }
  }
}
