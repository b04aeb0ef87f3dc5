import Observation

/// What trackers of an observer's properties register with.
///
/// Apart from the observer, and Sendable, so that a save on another thread can tell of itself without touching
/// the observer, which belongs to its context's owner.
final class ResultsSignal: Observable, Sendable {
  private let registrar = ObservationRegistrar()

  // Only their key paths matter: one for what is shown, one for what is asked.
  private var contents: Void { () }
  private var query: Void { () }

  func trackContents() { registrar.access(self, keyPath: \.contents) }
  func trackQuery() { registrar.access(self, keyPath: \.query) }

  func contentsChange() { registrar.withMutation(of: self, keyPath: \.contents) {} }
  func queryChanges() { registrar.withMutation(of: self, keyPath: \.query) {} }
}
