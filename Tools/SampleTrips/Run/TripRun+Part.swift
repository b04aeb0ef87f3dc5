import Dispatch
import Observation
import SwiftData
import Terminal

/// One of several equal parts of the flights, for a process that works beside others.
struct Part: Hashable, Sendable {
  /// From 1.
  var number: Int
  var count: Int

  /// The part that is written as its number, a slash and how many there are.
  init?(_ text: String) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
      1...1000 ~= count, 1...count ~= number
    else { return nil }
    self.number = number
    self.count = count
  }

  /// Whether a flight is in the part, by its place in the timetable.
  func has(_ index: Int) -> Bool { index % count == number - 1 }
}

extension TripRun {
  /// Imports and replays a part of the flights, beside processes that do the same with the others.
  ///
  /// Nothing is checked: the other parts may be under way.
  func run(_ part: Part) throws -> [PhaseReport] {
    let container = try setup.makeContainer()
    let found = try survey(container)
    let phases = [
      try addReferenceData(to: container),
      try importTrips(found.missing.filter(part.has), into: container),
    ]
    let own = Set(timetable.flights.indices.filter(part.has).map { timetable.flights[$0].identity })
    return phases + [try replayDays(in: container, only: own)]
  }

  /// Prints how many trips there are, and which departed last, each time another process has saved; until all flights
  /// that are not cancelled have departed.
  func watch(_ print: (String) -> Void) throws {
    let container = try setup.makeContainer()
    let observer = try HistoryObserver(modelContainer: container)
    let departures = timetable.flights.count { !$0.isCancelled }
    let news = DispatchSemaphore(value: 0)
    while true {
      withObservationTracking {
        _ = observer.eventCounter
      } onChange: {
        news.signal()
      }
      let context = ModelContext(container)
      let trips = try context.fetchCount(FetchDescriptor<Trip>())
      let departed = try context.fetchCount(
        FetchDescriptor<Trip>(predicate: #Predicate { $0.actualDeparture != nil })
      )
      var latest = FetchDescriptor<Trip>(
        predicate: #Predicate { $0.actualDeparture != nil },
        sortBy: [SortDescriptor(\.actualDeparture, order: .reverse)]
      )
      latest.fetchLimit = 1
      let last = try context.fetch(latest).first
      print(
        "\(trips.grouped) trips, \(departed.grouped) departed"
          + (last.map { ", last \($0.name) to \($0.destination)" } ?? "")
      )
      if departed == departures { return }
      news.wait()
    }
  }
}
