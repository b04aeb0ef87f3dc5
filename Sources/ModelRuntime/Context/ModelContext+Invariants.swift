import Foundation
import RowFormat

// The invariants of a context, checked in full: after each step of the simulator and of random tests, and in debug
// builds at each save and fetch if the environment variable LOGSTORE_CHECK_INVARIANTS is 1.

extension ModelContext {
  /// Returns the violations of the context's invariants; empty if all hold.
  ///
  /// It checks only data in memory, and loads and changes nothing.
  ///
  /// - Complexity: O(registered objects and the loaded ends of their relationships).
  package func invariantViolations() -> [String] {
    let check = InvariantCheck(self)
    check.registeredObjects()
    check.watchedObjects()
    check.listOwners()
    check.pendingLists()
    check.rowsTakenAlong()
    check.relationships()
    return check.violations
  }

  /// Traps if an invariant of the context does not hold.
  package func checkInvariants(_ place: @autoclosure () -> String = "") {
    let violations = invariantViolations()
    precondition(violations.isEmpty, "\(place()) \(violations.joined(separator: "; "))")
  }

  /// Checks the context in debug builds, if the environment asks for it.
  func assertInvariants() {
    assert(
      {
        if Self.checksInvariants { checkInvariants() }
        return true
      }()
    )
  }

  private static let checksInvariants =
    ProcessInfo.processInfo.environment["LOGSTORE_CHECK_INVARIANTS"] == "1"
}

/// One check of a context.
private final class InvariantCheck {
  private let context: ModelContext
  private(set) var violations: [String] = []

  init(_ context: ModelContext) { self.context = context }

  private func fail(_ state: _ModelState, _ problem: String) {
    violations.append("\(state.identifier): \(problem)")
  }

  // MARK: The identity map

  func registeredObjects() {
    let changed = Set(context.changed.map { ObjectIdentifier($0) })
    let deleted = Set(context.deletedInMemory.map { ObjectIdentifier($0) })
    for map in context.maps {
      for state in map.states {
        guard let model = state.model else {
          violations.append("a registered state has no object")
          continue
        }
        if model._$state !== state { fail(state, "the object has another state") }
        if state.context !== context { fail(state, "is registered, and not of this context") }
        if !state.flags.contains(.stored) { fail(state, "is registered, and has no row") }
        if map[state.reference] !== state { fail(state, "is registered under another row") }
        if state.flags.contains(.listed), !changed.contains(ObjectIdentifier(model)) {
          fail(state, "counts as changed, and is not on the list")
        }
        if !state.changed.isEmpty, !state.flags.contains(.listed), !state.isDeleted {
          fail(state, "has changed, and does not count as changed")
        }
        if state.isDeleted, !deleted.contains(ObjectIdentifier(model)) {
          fail(state, "is deleted, registered, and not on the list")
        }
      }
    }
  }

  /// Unretained references point only to objects of the context.
  func watchedObjects() {
    for state in context.watchedStates where state.context !== context {
      fail(state, "is watched, and not of this context")
    }
  }

  /// The observers know each object that has a list in memory, and no object of another context.
  func listOwners() {
    guard let observers = context.observers else { return }
    for state in context.maps.flatMap(\.states) where state.hasLists {
      if !observers.listOwners.contains(state) { fail(state, "has a list that no merge tells of") }
    }
    for state in observers.listOwners.all where state.context !== context {
      fail(state, "has lists that a merge tells of, and is not of this context")
    }
  }

  // MARK: Pending changes

  func pendingLists() {
    for (name, list) in [
      ("inserted", context.inserted), ("changed", context.changed),
      ("deleted", context.deletedInMemory),
    ] where Set(list.map { ObjectIdentifier($0) }).count != list.count {
      violations.append("an object is on the list of \(name) ones twice")
    }
    for model in context.inserted {
      let state = model._$state
      if state.context !== context { fail(state, "was inserted, and is not of this context") }
      if state.flags.contains(.stored) { fail(state, "was inserted, and has a row") }
      if !state.isDeleted, !state.flags.contains(.inserted) {
        fail(state, "was inserted, and does not count as inserted")
      }
    }
    for model in context.changed {
      let state = model._$state
      if state.context !== context { fail(state, "was changed, and is not of this context") }
      if !state.flags.contains(.listed) { fail(state, "was changed, and is not marked so") }
      if state.flags.contains(.inserted) { fail(state, "is new, and on the list of changed ones") }
    }
    for model in context.deletedInMemory {
      let state = model._$state
      if state.context !== context { fail(state, "was deleted, and is not of this context") }
      if !state.isDeleted { fail(state, "is to be deleted, and says it is not") }
      if !state.flags.contains(.stored) { fail(state, "is to be deleted, and has no row") }
    }
  }

  /// Rows that are deleted or changed without objects have no objects.
  func rowsTakenAlong() {
    var hasRows = false
    for group in context.takenAlong {
      hasRows = hasRows || !group.rows.isEmpty
      for row in group.rows
      where unsafe context.maps[group.connection.index].occupant(at: row) != nil {
        violations.append("row \(row) is to be deleted or changed without an object, and has one")
      }
    }
    if hasRows,
      context.takenAlong.prefix(context.firstRowsTakenAlong).contains(where: { !$0.rows.isEmpty })
    {
      violations.append("the context overlooks rows that it deletes or changes without objects")
    }
    if hasRows != context.hasRowsTakenAlong {
      violations.append("the context does not know if there are rows to delete or change")
    }
  }

  // MARK: Both ends

  /// Each link whose ends are both in memory is recorded at both.
  func relationships() {
    let states = context.maps.flatMap(\.states) + context.inserted.map { $0._$state }
    for state in states where !state.isDeleted && !state.relations.isEmpty {
      guard let model = state.model else { continue }
      for property in state.descriptor.relationships {
        switch state.relation(property) {
        case .unloaded: break
        case .one(let other): if let other { toOne(property, of: state, model, other) }
        case .many(let list):
          // A list of another epoch, or that does not know of a delete, is rebuilt before it is read.
          if state.isCurrent(list, property), state.knowsDeletions(list, property) {
            toMany(property, of: state, model, list.models)
          }
        }
      }
    }
  }

  private func toOne(
    _ property: ModelProperty,
    of state: _ModelState,
    _ model: any PersistentModel,
    _ other: any PersistentModel
  ) {
    let ends = other._$state
    if !ends.isDeleted, ends.context !== context {
      fail(state, "\(property.name) leads to a model of another context")
    }
    guard let inverse = property.inverse, !ends.isDeleted else { return }
    if case .one(let back) = ends.relation(inverse), back !== model {
      fail(state, "\(property.name) leads to a model whose \(inverse.name) leads elsewhere")
    }
  }

  private func toMany(
    _ property: ModelProperty,
    of state: _ModelState,
    _ model: any PersistentModel,
    _ members: [any PersistentModel]
  ) {
    if Set(members.map { ObjectIdentifier($0) }).count != members.count {
      fail(state, "\(property.name) holds a model twice")
    }
    for member in members {
      let other = member._$state
      if other.isKnownGone { fail(state, "\(property.name) holds a deleted model") }
      if other.context !== context {
        fail(state, "\(property.name) holds a model that is not of this context")
      }
      guard let inverse = property.inverse else { continue }
      if case .one(let back) = other.relation(inverse), back !== model {
        fail(state, "\(property.name) holds a model whose \(inverse.name) leads elsewhere")
      }
    }
  }
}
