import Foundation
import SwiftData

// The model layer of an app whose module is the main actor's by default, as a new project is. Nothing here says
// so: the setting of the target does.

enum Priority: Int, Codable, CaseIterable {
  case low, normal, high
}

// What is stored as a whole has to be coded anywhere: its conformance cannot be the main actor's.
nonisolated struct Address: Codable, Hashable {
  var street: String
  var city: String
}

@Model
final class Workshop {
  #Unique<Workshop>([\.name])
  #Index<Workshop>([\.openedOn], [\.name, \.openedOn])

  @Attribute(.unique) var name: String
  var openedOn: Date
  var address: Address?
  var tags: [String] = []
  @Relationship(deleteRule: .cascade, inverse: \Job.workshop) var jobs: [Job] = []
  @Transient var isSelected = false

  var urgentJobs: [Job] { jobs.filter { $0.priority == .high } }

  init(name: String, openedOn: Date = .now) {
    self.name = name
    self.openedOn = openedOn
  }
}

@Model
class Job {
  var title: String
  var priority: Priority = Priority.normal
  var hours: Double = 0
  var isDone = false
  var workshop: Workshop?

  init(title: String, priority: Priority = .normal, hours: Double = 0) {
    self.title = title
    self.priority = priority
    self.hours = hours
  }

  static func open(longerThan hours: Double) -> Predicate<Job> {
    #Predicate { !$0.isDone && $0.hours > hours }
  }

  static let byLength = [SortDescriptor(\Job.hours, order: .reverse), SortDescriptor(\Job.title)]
}

@Model
final class Repair: Job {
  var part: String = ""
  init(part: String) {
    self.part = part
    super.init(title: "Repair of \(part)", priority: .high, hours: 1)
  }
}

extension Workshop {
  static var unnamed: FetchDescriptor<Workshop> {
    FetchDescriptor(predicate: #Predicate<Workshop> { $0.name.isEmpty })
  }
}

enum WorkshopSchema: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Workshop.self, Job.self, Repair.self] }
}

/// A view model: the main actor's, as everything else.
@Observable
final class Planner {
  private let context: ModelContext
  private(set) var error: (any Error)?

  init(_ container: ModelContainer) { context = container.mainContext }

  func add(_ title: String, hours: Double, to workshop: Workshop) {
    let job = Job(title: title, hours: hours)
    job.workshop = workshop
    context.insert(job)
    save()
  }

  func openJobs(longerThan hours: Double) throws -> [Job] {
    try context.fetch(
      FetchDescriptor(predicate: Job.open(longerThan: hours), sortBy: Job.byLength)
    )
  }

  func jobs(of workshop: Workshop, containing text: String) throws -> [Job] {
    let id = workshop.persistentModelID
    return try context.fetch(
      FetchDescriptor<Job>(
        predicate: #Predicate { job in
          job.workshop?.persistentModelID == id && job.title.localizedStandardContains(text)
        },
        sortBy: [SortDescriptor(\.title)]
      )
    )
  }

  func finish(_ job: Job) {
    job.isDone = true
    save()
  }

  private func save() {
    do {
      try context.save()
    } catch {
      self.error = error
    }
  }
}

/// A screen: draws the open jobs, and draws them again whenever they change.
final class Board {
  private let jobs: ResultsObserver<Job, Never>
  var onChange: () -> Void = {}

  init(_ container: ModelContainer) throws {
    jobs = try ResultsObserver(
      filterBy: #Predicate<Job> { !$0.isDone },
      sortBy: [SortDescriptor(\.title)],
      modelContext: container.mainContext
    )
  }

  private(set) var lines: [String] = []

  func draw() {
    lines = withObservationTracking {
      jobs.results.map(\.title)
    } onChange: {
      Task { @MainActor in self.draw() }
    }
    onChange()
  }
}

/// What must not keep the main actor busy.
@ModelActor
actor Importer {
  func add(_ titles: [String], to id: PersistentIdentifier) throws -> [PersistentIdentifier] {
    guard let workshop = self[id, as: Workshop.self] else { return [] }
    let jobs = titles.map { Job(title: $0, priority: .high) }
    workshop.jobs += jobs
    try modelContext.save()
    return jobs.map(\.persistentModelID)
  }

  func count(titled title: String) throws -> Int {
    let titled = #Predicate<Job> { $0.title == title }
    return try modelContext.fetchCount(FetchDescriptor(predicate: titled))
  }

  func hours() throws -> Double {
    var sum = 0.0
    try modelContext.enumerate(FetchDescriptor<Job>(predicate: Job.open(longerThan: 0))) {
      sum += $0.hours
    }
    return sum
  }
}

/// A protocol of the app's, and so the main actor's; a class that states it is that actor's, too.
protocol Synced: PersistentModel {
  var syncedAt: Date? { get set }
}

@Model
final class Delivery: Synced {
  var syncedAt: Date?
  var load: String

  init(load: String) { self.load = load }
}

extension Synced {
  static func unsynced(in context: ModelContext) throws -> [Self] {
    try context.fetch(FetchDescriptor<Self>()).filter { $0.syncedAt == nil }
  }
}
