import SwiftData

/// A place in the list of readings, newest first: behind a reading.
///
/// Its text is opaque to clients, and exact: the time is not rounded.
struct Cursor: LosslessStringConvertible, Equatable, Sendable {
  var time: Date
  var number: Int

  init(time: Date, number: Int) {
    self.time = time
    self.number = number
  }

  init(behind reading: Reading) { self.init(time: reading.time, number: reading.number) }

  init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let bits = UInt64(parts[0], radix: 16), let number = Int(parts[1])
    else { return nil }
    let seconds = Double(bitPattern: bits)
    guard seconds.isFinite else { return nil }
    self.init(time: Date(timeIntervalSinceReferenceDate: seconds), number: number)
  }

  var description: String {
    "\(String(time.timeIntervalSinceReferenceDate.bitPattern, radix: 16)).\(number)"
  }
}

/// Which readings to list.
struct ReadingFilter: Sendable {
  var serial: String?
  var metric: String?
  /// The first instant.
  var from: Date?
  /// The instant behind the last.
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

  /// A page of the list, newest first.
  ///
  /// It costs what it shows, however far from the beginning it is: the index leads to its first reading.
  func page(after cursor: Cursor?, limit: Int) -> FetchDescriptor<Reading> {
    var wanted = predicate
    if let cursor {
      let (time, number) = (cursor.time, cursor.number)
      // The bound of the time first: it is what the index is entered by.
      wanted = wanted && #Predicate { $0.time <= time && ($0.time < time || $0.number < number) }
    }
    var descriptor = FetchDescriptor<Reading>(
      predicate: wanted,
      sortBy: [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.number, order: .reverse)]
    )
    descriptor.fetchLimit = limit
    return descriptor
  }
}
