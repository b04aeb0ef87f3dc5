import Synchronization

/// The rules by which a context saves by itself.
///
/// Nothing else saves:
/// - The main context saves at the main actor's next turn after a change.
/// - Any other context saves when ``ModelContext/processPendingChanges()`` is called: only its owner knows
///   when its thread has time.
///
/// A save that fails leaves its changes pending and is reported to
/// ``ModelContext/autosaveErrorHandler``; the next change tries again, also one of a model that is pending already. If there is no
/// handler, closing the container tries the main context's once more, and throws the error.
struct Autosave {
  var isEnabled = false
  /// Whether the context belongs to the main actor.
  var isMain = false
  /// Whether a save is due at the main actor's next turn.
  var isScheduled = false
  /// Whether the last save failed, so that every change tries again, and not only the first one of a model.
  var hasFailed = false
  var errorHandler: (@Sendable (any Error) -> Void)?
}

extension ModelContext {
  /// Whether the context saves by itself: off, but on in a container's main context.
  ///
  /// The main context then saves at the main actor's next turn after a change; any other when
  /// ``processPendingChanges()`` is called.
  public var autosaveEnabled: Bool {
    get { autosave.isEnabled }
    set {
      autosave.isEnabled = newValue
      if newValue, hasChanges { scheduleAutosave() }
    }
  }

  /// Called when an autosave fails; without it the changes stay pending, and the error is ignored until
  /// ``ModelContainer/close()`` throws it, if it is the main context's.
  public var autosaveErrorHandler: (@Sendable (any Error) -> Void)? {
    get { autosave.errorHandler }
    set { autosave.errorHandler = newValue }
  }

  /// Schedules a save for the next turn of the main actor if the context autosaves and none is scheduled yet.
  func scheduleAutosave() {
    guard autosave.isEnabled, autosave.isMain, !autosave.isScheduled else { return }
    autosave.isScheduled = true
    let coordinator = coordinator
    coordinator.dueAutosaveCount.add(1, ordering: .relaxed)
    let context = MainContextReference(self)
    Task { @MainActor in
      context.value?.autosaveIfDue()
      // Not before: a container that is being closed waits for it.
      coordinator.dueAutosaveCount.subtract(1, ordering: .releasing)
    }
  }

  /// Schedules a save after a change of a model that could not be saved before.
  func retryAutosave() {
    if autosave.hasFailed { scheduleAutosave() }
  }

  /// Makes every change from now on retry the failed save.
  ///
  /// - Parameter wasScheduled: Whether a save was due when the failed one began. A save that became due meanwhile would
  ///   retry without a change by the app, and fail for ever.
  func awaitCorrection(wasScheduled: Bool) {
    guard autosave.isEnabled, autosave.isMain else { return }
    autosave.isScheduled = wasScheduled
    autosave.hasFailed = true
    // Setters of models that are already pending report only their first call, unless the models are observed.
    for model in inserted { model._$state.isObserved = true }
    for model in changed { model._$state.isObserved = true }
  }

  /// Saves what the main actor's next turn would have saved.
  func autosaveIfDue() {
    if autosave.isScheduled { autosaveNow() }
  }

  /// Saves pending changes, and reports errors.
  func autosaveNow() {
    guard trySavingByItself() != nil, autosave.isMain else { return }
    coordinator.hasUnheardAutosave.store(true, ordering: .releasing)
  }

  /// Saves what the main actor's next turn would have saved, and what could not be saved before without anybody being told.
  ///
  /// - Returns: The error, if there is no handler for it.
  func saveBeforeClosing() -> (any Error)? {
    // Taken, so that of several calls one alone throws it.
    let isUnheard = coordinator.hasUnheardAutosave.exchange(false, ordering: .acquiringAndReleasing)
    guard autosave.isScheduled || isUnheard, !coordinator.isClosed else { return nil }
    return trySavingByItself()
  }

  /// - Returns: The error, if there is no handler for it.
  private func trySavingByItself() -> (any Error)? {
    autosave.isScheduled = false
    guard autosave.isEnabled, hasChanges else { return nil }
    do {
      try save()
      return nil
    } catch {
      guard let handler = autosave.errorHandler else { return error }
      handler(error)
      return nil
    }
  }

  /// Forgets that a save has failed, since its changes are saved or discarded, or its error is thrown.
  func forgetFailedAutosave() {
    autosave.hasFailed = false
    if autosave.isMain { coordinator.hasUnheardAutosave.store(false, ordering: .releasing) }
  }
}

/// Carries the main context to the main actor, where it belongs; unchecked, because nothing else uses it on the way.
struct MainContextReference: @unchecked Sendable {
  weak var value: ModelContext?

  init(_ value: ModelContext) { self.value = value }
}
