public import CModelRuntime
import Synchronization

/// A change in place of a to-many property, such as `album.photos.append(photo)`.
///
/// The property lends its list as an array that it still shares. Code that changes the array gets
/// a copy, as with any shared array, and the two are compared afterwards; only the methods of `Array` below
/// know the list behind the array, and change both without copying. So appending costs the same in
/// a long list as in a short one, and no change of the array can go unnoticed.
public struct _ListModification {
  private let address: UInt

  /// An imminent change of a lent list.
  enum Change {
    case adding(any PersistentModel)
    case removing(any PersistentModel)
    case reordering
  }

  /// Lends a list.
  ///
  /// - Parameters:
  ///   - address: The variable that holds the array during the loan.
  ///   - list: The list behind it.
  ///   - property: The relationship.
  ///   - prepare: Called before each change that is made in place; returns whether to make the change.
  init(
    _ address: UnsafeRawPointer,
    of list: RelatedModels,
    _ property: ModelProperty,
    prepare: @escaping (Change) -> Bool
  ) {
    self.address = UInt(bitPattern: address)
    let entry = Entry(address: self.address, list: list, property: property, prepare: prepare)
    Self.entries.withLock { $0.append(entry) }
    CModelRuntime_noteLentLists(1)
  }

  init() { address = 0 }

  /// Ends the loan.
  public func end() {
    if address == 0 { return }
    CModelRuntime_noteLentLists(-1)
    Self.entries.withLock { entries in
      if let index = entries.lastIndex(where: { $0.address == address }) {
        entries.remove(at: index)
      }
    }
  }

  /// A variable belongs to one thread; all threads share the table of them.
  private struct Entry: @unchecked Sendable {
    let address: UInt
    let list: RelatedModels
    let property: ModelProperty
    let prepare: (Change) -> Bool
  }

  private static let entries = Mutex<[Entry]>([])

  /// The list behind a lent and so far unchanged array.
  private static func lent<D: PersistentModel>(
    _ array: inout [D]
  ) -> (entry: Entry, list: RelatedModelsOf<D>)? {
    let address = unsafe withUnsafePointer(to: &array) { UInt(bitPattern: $0) }
    let found = entries.withLock { $0.last { $0.address == address } }
    guard let found, let list = found.list as? RelatedModelsOf<D>, list.shares(array) else {
      return nil
    }
    return (found, list)
  }

  /// Adds a model to a lent array.
  ///
  /// - Returns: Whether it was handled; otherwise the array is an ordinary one.
  @usableFromInline
  static func append<D: PersistentModel>(_ model: D, to array: inout [D]) -> Bool {
    guard let (entry, list) = lent(&array) else { return false }
    if !entry.prepare(.adding(model)) {
      // A model that its initializer has linked to the list is a member by now.
      if !list.shares(array) { array = list.members }
      return true
    }
    // Initializers may have linked others to the list, which the model led to.
    if list.shares(array), list.append(model, toSharing: &array) { return true }
    list.enter(model)
    array = list.members
    return true
  }

  /// Inserts a model into a lent array.
  ///
  /// - Returns: Whether it was handled; otherwise the array is an ordinary one.
  @usableFromInline
  static func insert<D: PersistentModel>(_ model: D, at index: Int, in array: inout [D]) -> Bool {
    if index == array.count { return append(model, to: &array) }
    guard let (entry, list) = lent(&array), array.indices.contains(index) else { return false }
    if list.contains(model) {
      // A list has a model once, at the first of its places: one that its initializer has linked is the last one so far.
      guard let former = list.index(of: model), index < former, entry.prepare(.reordering) else {
        return true
      }
      if list.move(from: former, to: index, inSharing: &array) { return true }
      list.move(from: former, to: index)
      array = list.members
      return true
    }
    let next = array[index]
    let isNew = entry.prepare(.adding(model))
    if list.shares(array) {
      if !isNew { return model._$state.isKnownGone }
      if list.insert(model, at: index, inSharing: &array) { return true }
    }
    // Initializers may have linked the model to the list, or others that it led to, or may have moved members to it.
    if isNew {
      list.enter(model)
    } else {
      guard list.contains(model), entry.prepare(.reordering) else {
        array = list.members
        return true
      }
    }
    array = []
    if let former = list.index(of: model) {
      list.move(from: former, to: list.index(of: next) ?? min(index, former))
    }
    array = list.members
    return true
  }

  /// Removes a model from a lent array.
  ///
  /// - Returns: Whether it was handled; otherwise the array is an ordinary one.
  @usableFromInline
  static func remove<D: PersistentModel>(at index: Int, from array: inout [D]) -> Bool {
    guard let (entry, list) = lent(&array), array.indices.contains(index),
      entry.prepare(.removing(array[index]))
    else { return false }
    if list.remove(at: index, fromSharing: &array, entry.property) { return true }
    list.leave(array[index], entry.property)
    array = list.members
    return true
  }

  /// Exchanges two models of a lent array.
  ///
  /// - Returns: Whether it was handled; otherwise the array is an ordinary one.
  @usableFromInline
  static func swap<D: PersistentModel>(_ first: Int, _ second: Int, in array: inout [D]) -> Bool {
    guard let (entry, list) = lent(&array), array.indices.contains(first),
      array.indices.contains(second), entry.prepare(.reordering)
    else { return false }
    if list.swap(first, second, inSharing: &array) { return true }
    list.takeOrder(moving: ObjectIdentifier(array[first]), ObjectIdentifier(array[second]))
    (array[first], array[second]) = (array[second], array[first])
    list.replace(with: array)
    return true
  }
}

// The array of a relationship is changed at both ends at once; most arrays belong to no model, and need not look
// for one.

extension Array where Element: PersistentModel {
  /// Adds a model at the end of the array.
  ///
  /// For the array of a relationship this changes both ends of it at once.
  ///
  /// - Complexity: O(1) on average, also for a relationship that holds many models. The first change after others have saved
  ///   models of the members' class puts the list together again, which is O(*n*): beside writers of that class, set the other
  ///   end instead (`player.team = team`), which needs no list.
  @inlinable
  public mutating func append(_ newElement: Element) {
    if CModelRuntime_isAnyListLent() != 0, _ListModification.append(newElement, to: &self) {
      return
    }
    append(contentsOf: CollectionOfOne(newElement))
  }

  /// Inserts a model at a position of the array; for the array of a relationship, without comparing all of it.
  @inlinable
  public mutating func insert(_ newElement: Element, at i: Int) {
    if CModelRuntime_isAnyListLent() != 0, _ListModification.insert(newElement, at: i, in: &self) {
      return
    }
    insert(contentsOf: CollectionOfOne(newElement), at: i)
  }

  /// Exchanges the models at two positions of the array; for the array of a relationship, without comparing all of it.
  @inlinable
  public mutating func swapAt(_ i: Int, _ j: Int) {
    if i == j { return }
    if CModelRuntime_isAnyListLent() != 0, _ListModification.swap(i, j, in: &self) { return }
    (self[i], self[j]) = (self[j], self[i])
  }

  /// Removes the model at a position of the array; for the array of a relationship, without comparing all of it.
  @inlinable @discardableResult
  public mutating func remove(at index: Int) -> Element {
    let element = self[index]
    if CModelRuntime_isAnyListLent() != 0, _ListModification.remove(at: index, from: &self) {
      return element
    }
    replaceSubrange(index..<index + 1, with: EmptyCollection())
    return element
  }

  /// Removes the first model of the array; for the array of a relationship, without comparing all of it.
  @inlinable @discardableResult
  public mutating func removeFirst() -> Element { remove(at: startIndex) }

  /// Removes the last model of the array.
  ///
  /// - Complexity: O(1), also for a relationship that holds many models.
  @inlinable @discardableResult
  public mutating func removeLast() -> Element { remove(at: endIndex - 1) }

  /// Removes the last model of the array, if there is one.
  @inlinable @discardableResult
  public mutating func popLast() -> Element? { isEmpty ? nil : remove(at: endIndex - 1) }
}
