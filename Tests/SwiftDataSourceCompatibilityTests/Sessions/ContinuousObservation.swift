import Foundation
import SwiftData

// In the style of "What's new in SwiftData" (WWDC26): an object that follows a fetch, and a model that follows itself.

enum NewestSession {
  @Model
  final class Activity {
    var name: String
    var isComplete = false
    var dateEdited: Date?
    @Transient var token: ObservationTracking.Token?

    init(name: String) { self.name = name }
  }

  @MainActor
  static func follow(_ activity: Activity) {
    activity.token = withContinuousObservation(options: .didSet) { event in
      _ = activity.name
      _ = activity.isComplete

      if event.matches(\Activity.name) {
        activity.dateEdited = .now
      }

      if event.matches(\Activity.isComplete) {
        activity.dateEdited = .distantFuture
      }
    }
  }

  @MainActor
  final class Names {
    private(set) var names: [String] = []
    private(set) var updates = 0
    private let observer: ResultsObserver<Activity, Never>
    private var token: ObservationTracking.Token?

    init(modelContext: ModelContext) throws {
      let observer = try ResultsObserver<Activity, Never>(
        sortBy: [SortDescriptor(\.name)],
        modelContext: modelContext
      )
      self.observer = observer
      token = withContinuousObservation(options: [.didSet]) { [weak self] event in
        self?.names = observer.results.map(\.name)
        self?.updates += 1
      }
    }

    func stop() { token = nil }
  }
}
