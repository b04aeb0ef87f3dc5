/// Elements in the order of their addition, each of which is removed by its identity.
///
/// - Complexity: O(1) to add or to remove one, on average: places of removed ones are dropped once they are as many as the others.
struct Registry<Element> {
  private var entries: [(id: ObjectIdentifier, element: Element)?] = []
  private var places: [ObjectIdentifier: Int] = [:]

  var count: Int { places.count }
  var isEmpty: Bool { places.isEmpty }

  /// Adds an element whose identity no other has.
  mutating func append(_ element: Element, as id: ObjectIdentifier) {
    let former = places.updateValue(entries.count, forKey: id)
    assert(former == nil, "an element was registered twice")
    entries.append((id, element))
  }

  /// Removes an element, if it is there.
  mutating func remove(_ id: ObjectIdentifier) {
    guard let place = places.removeValue(forKey: id) else { return }
    entries[place] = nil
    if entries.count > 16, entries.count > 2 * places.count { dropGaps() }
  }

  private mutating func dropGaps() {
    entries.removeAll { $0 == nil }
    for (place, entry) in entries.enumerated() {
      if let entry { places[entry.id] = place }
    }
  }
}

extension Registry: Sequence {
  func makeIterator() -> some IteratorProtocol<Element> {
    entries.lazy.compactMap { $0?.element }.makeIterator()
  }
}
