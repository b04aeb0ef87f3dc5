import SwiftData

/// A filter for the readings to list.
struct ReadingFilter: Sendable {
  var serial: String?
  var metric: String?
  /// The first instant.
  var from: Date?
  /// The instant after the last.
  var to: Date?
  var onlyAlarms = false

  /// The condition of a fetch; parts that are not given are not in it.
  var predicate: Predicate<Reading> {
    var parts: [Predicate<Reading>] = []
    if let serial { parts.append(#Predicate { $0.serial == serial }) }
    if let metric { parts.append(#Predicate { $0.metric == metric }) }
    if let from { parts.append(#Predicate { $0.time >= from }) }
    if let to { parts.append(#Predicate { $0.time < to }) }
    if onlyAlarms { parts.append(#Predicate { $0.isAlarm }) }
    return parts.dropFirst().reduce(parts.first ?? #Predicate { _ in true }) { $0 && $1 }
  }

  /// The list, newest first.
  ///
  /// Many readings may share an instant; their numbers tell them apart, as the index does.
  func list(limit: Int) -> FetchDescriptor<Reading> {
    var descriptor = FetchDescriptor<Reading>(
      predicate: predicate,
      sortBy: [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.number, order: .reverse)]
    )
    descriptor.fetchLimit = limit
    return descriptor
  }
}
