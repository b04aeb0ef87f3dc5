/// The change of a list that setting it makes.
struct ListChange<Model: PersistentModel> {
  /// The new list, without duplicates.
  let result: [Model]
  let removed: [any PersistentModel]
  let added: [any PersistentModel]
  /// Whether the list was changed other than by removing members and appending others.
  let isReordered: Bool

  var isEmpty: Bool { removed.isEmpty && added.isEmpty && !isReordered }

  /// Compares two lists.
  ///
  /// - Complexity: O(*n*), and little of that for a common prefix.
  init(from old: [Model], to new: [Model]) {
    let difference = ListDifference(from: Self.identities(of: old), to: Self.identities(of: new))
    result = difference.places.map { places in places.map { new[$0] } } ?? new
    removed = difference.removed.map { old[$0] }
    added = difference.added.map { new[$0] }
    isReordered = difference.isReordered
  }

  /// The models of another list with what came and without what left here, except for the order.
  ///
  /// A model that came may be twice in the result, the second time at its end.
  func applied(to models: [Model]) -> [Model] {
    let left = Set(removed.lazy.map { ObjectIdentifier($0) })
    let kept = models.filter { !left.contains(ObjectIdentifier($0)) }
    return kept + added.compactMap { $0 as? Model }
  }

  private static func identities(of models: [Model]) -> [ObjectIdentifier] {
    var identities: [ObjectIdentifier] = []
    identities.reserveCapacity(models.count)
    unsafe models.withUnsafeBufferPointer { models in
      for index in models.indices { unsafe identities.append(ObjectIdentifier(models[index])) }
    }
    return identities
  }
}

/// The difference of two lists of models, by position.
///
/// Separate from the models, whose class is known only at run time: looking that up for each of them would take four times
/// as long as the comparison.
private struct ListDifference {
  /// The positions of the first occurrence of each model in the new list; `nil` if it has no duplicates.
  private(set) var places: [Int]?
  /// The positions in the old list of models that the new one lacks.
  private(set) var removed: [Int] = []
  /// The positions in the new list of models that the old one lacks.
  private(set) var added: [Int] = []
  private(set) var isReordered = false

  /// - Parameters:
  ///   - old: The old list, without duplicates.
  ///   - new: The new list.
  init(from old: [ObjectIdentifier], to new: [ObjectIdentifier]) {
    var start = 0
    while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
    if start == old.count, start == new.count { return }
    var kept: Set<ObjectIdentifier> = []
    var rest: [Int] = []
    if start < new.count {
      kept.reserveCapacity(new.count)
      for model in new[..<start] { kept.insert(model) }
      for place in start..<new.count where kept.insert(new[place]).inserted { rest.append(place) }
      if rest.count < new.count - start { places = Array(0..<start) + rest }
    }
    var survivors: [ObjectIdentifier] = []
    for place in start..<old.count {
      if kept.contains(old[place]) {
        survivors.append(old[place])
      } else {
        removed.append(place)
      }
    }
    isReordered = !rest.lazy.map { new[$0] }.starts(with: survivors)
    if survivors.isEmpty {
      added = rest
    } else {
      let present = Set(survivors)
      added = rest.filter { !present.contains(new[$0]) }
    }
  }
}
