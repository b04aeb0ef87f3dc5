import Foundation
import Harness

/// A store that keeps flights and answers questions about them.
protocol QuestionStore {
  var contender: Contender { get }
  /// The settings of the store, and its way of answering a question.
  func settings(_ question: FlightQuestion) throws -> String
  /// Answers in the lines of `answers.py`.
  func ask(_ question: FlightQuestion) throws -> [String]
}

/// The answers of a program without a database.
struct Answers {
  private var lines: [String: [String]] = [:]

  init(_ file: URL) throws {
    var question = ""
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("# ") {
        question = String(line.dropFirst(2))
      } else {
        lines[question, default: []].append(String(line))
      }
    }
  }

  subscript(_ question: FlightQuestion) -> [String] { lines[question.rawValue] ?? [] }
}

extension FlightQuestion {
  var workload: Workload {
    switch self {
    case .delaysByCarrierAndHour: .delaysByCarrierAndHour
    case .worstRoutes: .worstRoutes
    case .planesByHours: .planesByHours
    case .cancellationsByWeek: .cancellationsByWeek
    case .longestChain: .longestChain
    case .busiestHours: .busiestHours
    case .delayPercentiles: .delayPercentiles
    case .lateShareByMonth: .lateShareByMonth
    case .milesByManufacturer: .milesByManufacturer
    case .bestWeekday: .bestWeekday
    }
  }

  var packedWorkload: Workload {
    switch self {
    case .delaysByCarrierAndHour: .packedDelaysByCarrierAndHour
    case .worstRoutes: .packedWorstRoutes
    case .planesByHours: .packedPlanesByHours
    case .cancellationsByWeek: .packedCancellationsByWeek
    case .longestChain: .packedLongestChain
    case .busiestHours: .packedBusiestHours
    case .delayPercentiles: .packedDelayPercentiles
    case .lateShareByMonth: .packedLateShareByMonth
    case .milesByManufacturer: .packedMilesByManufacturer
    case .bestWeekday: .packedBestWeekday
    }
  }
}
