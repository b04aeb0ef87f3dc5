public import Foundation
import RowFormat

extension ModelContext {
  /// Marks an object to be deleted by the next save, and applies its delete rules to related
  /// objects at once: lists no longer contain it, and objects it cascades to are deleted as well.
  ///
  /// An object that was never saved just leaves the context. An object of another context stays as it is, and the next save or
  /// fetch throws: fetch it here by its identifier.
  public func delete<T>(_ model: T) where T: PersistentModel {
    checked {
      let state = model._$state
      if let other = state.context, other !== self {
        deferredError = deferredError ?? SwiftDataError.modelInOtherContext(state.identifier)
      } else {
        DeletePropagation.delete(model, from: self)
      }
    }
  }

  /// Deletes the models that match, with their delete rules.
  ///
  /// - Parameters:
  ///   - model: The class of the models.
  ///   - predicate: The condition that models must meet; `nil` matches all.
  ///   - includeSubclasses: Whether models of subclasses are deleted, too.
  /// - Throws: An error of fetching the models.
  public func delete<T>(
    model: T.Type,
    where predicate: Predicate<T>? = nil,
    includeSubclasses: Bool = true
  ) throws where T: PersistentModel {
    for found in try fetch(FetchDescriptor<T>(predicate: predicate)) {
      if includeSubclasses || type(of: found) == T.self { delete(found) }
    }
  }

  /// Adds one object to the list of deleted ones.
  func markDeleted(_ model: any PersistentModel) {
    let state = model._$state
    registerUndoOfDeleting(model)
    state.flags.insert(.deleted)
    if state.isListedByValue { unsaved.invalidateValue(nil, of: state) }
    deletions.record(model)
    if state.flags.contains(.stored) {
      // Its last values stay readable: they are fetched while the row still exists.
      state.loadRow()
      if state.flags.contains(.mayReturn) { state.keepValuesOfSideFiles() }
      deletedModels.append(model)
      // Lists that were read to be deleted with it must not make those of their members' owners leave.
      recentLists.forget(state)
      letGo(of: state)
      scheduleAutosave()
    } else {
      retryAutosave()
    }
    observers?.went(model)
  }
}
