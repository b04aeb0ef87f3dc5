import Foundation
import SwiftData

// A fitness app: nested value types, sets in order, transformable and ephemeral attributes.

protocol Timed {
  var startedAt: Date { get }
  var endedAt: Date? { get }
}

extension Timed {
  var duration: TimeInterval? { endedAt.map { $0.timeIntervalSince(startedAt) } }
}

@Model
class Workout: Timed {
  enum Activity: Codable, Hashable {
    case running(distance: Double)
    case cycling(distance: Double, climb: Double)
    case strength
    case custom(name: String)
  }

  struct HeartRate: Codable, Hashable, Sendable {
    struct Zone: Codable, Hashable, Sendable {
      var lower: Int
      var upper: Int
    }

    var average: Int
    var maximum: Int
    var zones: [Zone] = []
  }

  var startedAt: Date
  var endedAt: Date?
  var activity: Activity
  var heartRate: HeartRate?
  var route: [[Double]] = []
  var laps: [TimeInterval] = []
  var effort: Float = 0.5
  var rating: Int8 = 3
  var steps: UInt32 = 0

  @Attribute(.ephemeral) var liveHeartRate: Int = 0
  @Attribute(.transformable(by: RoutePointTransformer.self)) var start: RoutePoint?

  @Relationship(deleteRule: .cascade, inverse: \ExerciseSet.workout)
  var sets: [ExerciseSet] = []

  var plan: TrainingPlan?

  required init(startedAt: Date = .now, activity: Activity) {
    self.startedAt = startedAt
    self.activity = activity
  }

  static func start(_ activity: Activity) -> Self {
    Self(activity: activity)
  }

  func finish(at date: Date = .now) {
    endedAt = date
    liveHeartRate = 0
  }
}

@Model
final class ExerciseSet {
  var exercise: String
  var repetitions: Int
  var weight: Double?
  var workout: Workout?

  init?(exercise: String, repetitions: Int, weight: Double? = nil) {
    guard repetitions > 0 else { return nil }
    self.exercise = exercise
    self.repetitions = repetitions
    self.weight = weight
  }

  var volume: Double { Double(repetitions) * (weight ?? 0) }
}

enum PlanError: Error { case missingName }

@Model
final class TrainingPlan {
  struct Week: Codable, Hashable {
    var number: Int
    var goals: [String: Double]
  }

  var name: String
  var weeks: [Week]
  @Relationship(deleteRule: .nullify, inverse: \Workout.plan) var workouts: [Workout]

  init(name: String, weeks: [Week] = []) throws {
    guard !name.isEmpty else { throw PlanError.missingName }
    self.name = name
    self.weeks = weeks
    self.workouts = []
  }
}

/// A value that is not Codable: only its transformer knows its bytes.
final class RoutePoint: NSObject {
  let latitude: Double
  let longitude: Double

  init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

final class RoutePointTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }

  override func transformedValue(_ value: Any?) -> Any? {
    guard let point = value as? RoutePoint else { return nil }
    return Data("\(point.latitude),\(point.longitude)".utf8)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, let text = String(data: data, encoding: .utf8) else {
      return nil
    }
    let parts = text.split(separator: ",").compactMap { Double($0) }
    guard parts.count == 2 else { return nil }
    return RoutePoint(latitude: parts[0], longitude: parts[1])
  }
}

@Observable
final class LiveWorkout {
  let workout: Workout
  var isPaused = false

  init(_ workout: Workout) { self.workout = workout }

  var text: String {
    "\(workout.liveHeartRate) bpm" + (isPaused ? " (paused)" : "")
  }
}
