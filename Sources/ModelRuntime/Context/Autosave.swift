/// When a context saves by itself.
///
/// The rules are these, and nothing else saves:
/// - The main context saves at the main actor's next turn after a change.
/// - Any other context saves when ``ModelContext/processPendingChanges()`` is called: only its owner knows
///   when its thread has time.
///
/// A save that fails leaves its changes pending and is reported to
/// ``ModelContext/autosaveErrorHandler``; the next change tries again, also one of a model that is pending already.
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

  /// Called when an autosave fails; without one the error goes unheard, and the changes stay
  /// pending.
  public var autosaveErrorHandler: (@Sendable (any Error) -> Void)? {
    get { autosave.errorHandler }
    set { autosave.errorHandler = newValue }
  }

  /// Schedules a save for the next turn of the main actor if the context autosaves and none is scheduled yet.
  func scheduleAutosave() {
    guard autosave.isEnabled, autosave.isMain, !autosave.isScheduled else { return }
    autosave.isScheduled = true
    let context = MainContextReference(self)
    Task { @MainActor in context.value?.autosaveIfDue() }
  }

  /// Schedules a save after a change of what could not be saved before.
  func retryAutosave() {
    if autosave.hasFailed { scheduleAutosave() }
  }

  /// Has every change from now on try again what could not be saved.
  ///
  /// - Parameter wasScheduled: Whether a save was due when the failed one began. One that became due meanwhile would
  ///   try again without a change of the app's, and fail for ever.
  func awaitCorrection(wasScheduled: Bool) {
    guard autosave.isEnabled, autosave.isMain else { return }
    autosave.isScheduled = wasScheduled
    autosave.hasFailed = true
    // Setters of models that are pending already say no more that they are called, unless these are observed.
    for model in inserted { model._$state.isObserved = true }
    for model in changed { model._$state.isObserved = true }
  }

  private func autosaveIfDue() {
    if autosave.isScheduled { autosaveNow() }
  }

  /// Saves what is pending, and reports what goes wrong.
  func autosaveNow() {
    autosave.isScheduled = false
    guard autosave.isEnabled, hasChanges else { return }
    do {
      try save()
    } catch {
      autosave.errorHandler?(error)
    }
  }
}

/// Carries the main context to the main actor, where it belongs; unchecked, because nothing else is done with it on the
/// way.
struct MainContextReference: @unchecked Sendable {
  weak var value: ModelContext?

  init(_ value: ModelContext) { self.value = value }
}
