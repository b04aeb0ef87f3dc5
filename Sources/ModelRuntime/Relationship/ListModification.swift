public import CModelRuntime
import Synchronization

/// A to-many property that is being changed in place: `album.photos.append(photo)` is under way.
///
/// The property lends its list out as an array that it goes on sharing. Whoever changes the array gets
/// a copy, as with any shared array, and the two are compared afterwards; only `append(_:)` below knows
/// of the list that is behind the array, and adds to it without copying. So appending costs the same in
/// a long list as in a short one, and nothing that happens to the array can go unnoticed.
public struct _ListModification {
  private let address: UInt

  /// Lends a list out.
  ///
  /// - Parameters:
  ///   - address: The variable that holds the array for as long as it is lent.
  ///   - list: The list behind it.
  ///   - append: Called for each model that `append(_:)` adds, before it does.
  init(
    _ address: UnsafeRawPointer,
    of list: RelatedModels,
    append: @escaping (any PersistentModel) -> Bool
  ) {
    self.address = UInt(bitPattern: address)
    let entry = Entry(address: self.address, list: list, append: append)
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

  /// A variable is one thread's; the table of them is everybody's.
  private struct Entry: @unchecked Sendable {
    let address: UInt
    let list: RelatedModels
    let append: (any PersistentModel) -> Bool
  }

  private static let entries = Mutex<[Entry]>([])

  /// Adds a model to an array that is lent out.
  ///
  /// - Returns: Whether it was dealt with; otherwise the array is an array like any other.
  @usableFromInline
  static func append<D: PersistentModel>(_ model: D, to array: inout [D]) -> Bool {
    let address = withUnsafePointer(to: &array) { UInt(bitPattern: $0) }
    let found = entries.withLock { $0.last { $0.address == address } }
    guard let found, let list = found.list as? RelatedModelsOf<D>, list.shares(array) else {
      return false
    }
    if !found.append(model) { return true }
    return list.append(model, toSharing: &array)
  }
}

extension Array where Element: PersistentModel {
  /// Adds a model at the end of the array.
  ///
  /// For the array of a relationship this changes both ends of it at once.
  ///
  /// - Complexity: O(1) on average, also for a relationship that holds many models.
  @inlinable
  public mutating func append(_ newElement: Element) {
    // Most arrays belong to no model, and need not look for one.
    if CModelRuntime_isAnyListLent() != 0, _ListModification.append(newElement, to: &self) {
      return
    }
    append(contentsOf: CollectionOfOne(newElement))
  }
}
