import Foundation
import SwiftData

/// Ten questions about flights, as an app would ask them.
enum FlightQuestion: String, CaseIterable {
  case delaysByCarrierAndHour = "delays-by-carrier-and-hour"
  case worstRoutes = "worst-routes"
  case planesByHours = "planes-by-hours"
  case cancellationsByWeek = "cancellations-by-week"
  case longestChain = "longest-chain"
  case busiestHours = "busiest-hours"
  case delayPercentiles = "delay-percentiles"
  case lateShareByMonth = "late-share-by-month"
  case milesByManufacturer = "miles-by-manufacturer"
  case bestWeekday = "best-weekday"

  /// Asks the question.
  ///
  /// - Returns: A line for each row of the answer, written as `Answers/answers.py` writes it.
  func ask(_ context: ModelContext) throws -> [String] {
    let questions = FlightQuestions(context)
    return switch self {
    case .delaysByCarrierAndHour: try questions.delaysByCarrierAndHour()
    case .worstRoutes: try questions.worstRoutes()
    case .planesByHours: try questions.planesByHours()
    case .cancellationsByWeek: try questions.cancellationsByWeek()
    case .longestChain: try questions.longestChain()
    case .busiestHours: try questions.busiestHours()
    case .delayPercentiles: try questions.delayPercentiles()
    case .lateShareByMonth: try questions.lateShareByMonth()
    case .milesByManufacturer: try questions.milesByManufacturer()
    case .bestWeekday: try questions.bestWeekday()
    }
  }
}

private struct FlightQuestions {
  private let context: ModelContext
  private let all = FetchDescriptor<Flight>()
  private let arrived = FetchDescriptor<Flight>(predicate: #Predicate { $0.arrivalDelay != nil })

  private static let newYork = {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = TimeZone(identifier: "America/New_York") ?? .gmt
    return calendar
  }()

  init(_ context: ModelContext) { self.context = context }

  // How late does each carrier leave at each hour of the day?
  func delaysByCarrierAndHour() throws -> [String] {
    let delays = try context.aggregate(
      all,
      by: (.value(\.carrier), .component(.hour, of: \.scheduled, in: Self.newYork)),
      .count,
      .average(\.departureDelay)
    )
    return delays.map { line($0.key.0, $0.key.1, $0.values.0, decimals($0.values.1)) }
  }

  // Which ten routes of at least 15 flights arrive latest?
  func worstRoutes() throws -> [String] {
    let routes = try context.aggregate(
      arrived,
      by: (.value(\.origin), .value(\.destination)),
      .count,
      .average(\.arrivalDelay)
    )
    let worst = routes.filter { $0.values.0 >= 15 }
      .sorted { ($0.values.1 ?? 0) > ($1.values.1 ?? 0) }
    return worst.prefix(10).map { line($0.key.0, $0.key.1, $0.values.0, decimals($0.values.1)) }
  }

  // Which ten planes were longest in the air?
  func planesByHours() throws -> [String] {
    let planes = try context.aggregate(
      FetchDescriptor<Flight>(predicate: #Predicate { $0.tailNumber != nil }),
      by: \.tailNumber,
      .count(\.airTime),
      .sum(\.airTime)
    )
    return planes.sorted { $0.values.1 > $1.values.1 }.prefix(10).map {
      line($0.key ?? "", $0.values.0, decimals(Double($0.values.1) / 60))
    }
  }

  // How many flights were cancelled in each week?
  func cancellationsByWeek() throws -> [String] {
    let weeks = try context.aggregate(
      FetchDescriptor<Flight>(predicate: #Predicate { $0.departureDelay == nil }),
      by: .calendar(\.scheduled, .weekOfYear, in: Self.newYork),
      .count
    )
    return weeks.map { week in
      let day = Self.newYork.dateComponents([.year, .month, .day], from: week.key)
      let date = [day.year, day.month, day.day].map { twoDigits($0 ?? 0) }.joined(separator: "-")
      return line(date, week.values)
    }
  }

  // Which plane left New York most often in a row, each time within a day of the time before?
  func longestChain() throws -> [String] {
    let flights = try context.fetch(
      FetchDescriptor<Flight>(
        predicate: #Predicate { $0.tailNumber != nil && $0.departureDelay != nil },
        sortBy: [SortDescriptor(\.tailNumber, comparator: .lexical), SortDescriptor(\.scheduled)]
      ),
      \.tailNumber,
      \.scheduled
    )
    var (longest, tail) = (0, "")
    var length = 0
    var last: (tail: String?, scheduled: Date)?
    for flight in flights {
      let goesOn = last.map { $0.tail == flight.0 && flight.1 <= $0.scheduled + 86_400 } ?? false
      length = goesOn ? length + 1 : 1
      if length > longest { (longest, tail) = (length, flight.0 ?? "") }
      last = flight
    }
    return [line(tail, longest)]
  }

  // At which hour do most flights leave each airport?
  func busiestHours() throws -> [String] {
    let hours = try context.aggregate(
      all,
      by: (.value(\.origin), .component(.hour, of: \.scheduled, in: Self.newYork)),
      .count
    )
    return Dictionary(grouping: hours, by: \.key.0).sorted { $0.key < $1.key }
      .compactMap { origin, hours in
        // Of several the first.
        hours.max { ($0.values, -$0.key.1) < ($1.values, -$1.key.1) }
          .map { line(origin, $0.key.1, $0.values) }
      }
  }

  // How late do half, nine tenths and 99 of a hundred flights of each carrier leave at most?
  func delayPercentiles() throws -> [String] {
    let delays = try context.aggregate(
      FetchDescriptor<Flight>(predicate: #Predicate { $0.departureDelay != nil }),
      by: \.carrier,
      .percentile(0.5, \.departureDelay),
      .percentile(0.9, \.departureDelay),
      .percentile(0.99, \.departureDelay)
    )
    return delays.map {
      line($0.key, decimals($0.values.0), decimals($0.values.1), decimals($0.values.2))
    }
  }

  // What share of each month's flights that arrived was more than a quarter of an hour late?
  func lateShareByMonth() throws -> [String] {
    let month = Grouping<Flight, Int>.component(.month, of: \.scheduled, in: Self.newYork)
    let late = FetchDescriptor<Flight>(predicate: #Predicate { ($0.arrivalDelay ?? 0) > 15 })
    var lateFlights: [Int: Int] = [:]
    for (month, count) in try context.aggregate(late, by: month, .count) {
      lateFlights[month] = count
    }
    let months = try context.aggregate(arrived, by: month, .count)
    return months.map { month, count in
      line(month, count, decimals(Double(lateFlights[month] ?? 0) / Double(count)))
    }
  }

  // Whose planes flew most miles?
  func milesByManufacturer() throws -> [String] {
    let makers = try context.aggregate(
      FetchDescriptor<Flight>(predicate: #Predicate { $0.airTime != nil }),
      by: \.plane?.manufacturer,
      .count,
      .sum(\.distance)
    )
    let busy = makers.filter { $0.key != nil && $0.values.0 >= 50 }
    return busy.sorted { $0.values.1 > $1.values.1 }.prefix(10).map {
      line($0.key ?? "", $0.values.0, $0.values.1)
    }
  }

  // On which day of the week do flights arrive least late? Sunday is 1.
  func bestWeekday() throws -> [String] {
    let days = try context.aggregate(
      arrived,
      by: .component(.weekday, of: \.scheduled, in: Self.newYork),
      .count,
      .average(\.arrivalDelay)
    )
    let best = days.min { ($0.values.1 ?? 0) < ($1.values.1 ?? 0) }
    return best.map { [line($0.key, $0.values.0, decimals($0.values.1))] } ?? []
  }
}

/// A line of an answer.
func line(_ values: Any...) -> String { values.map { "\($0)" }.joined(separator: ",") }

/// A number as answers have it; nothing if there is none.
func decimals(_ value: Double?) -> String { value.map { String(format: "%.4f", $0) } ?? "" }

private func twoDigits(_ number: Int) -> String { String(format: "%02d", number) }
