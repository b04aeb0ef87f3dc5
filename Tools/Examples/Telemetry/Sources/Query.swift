import HTTPTypes
import Hummingbird
import SwiftData

/// The parameters after the question mark, checked: a parameter that cannot be read is reported as the client's mistake.
struct Query {
  private let request: Request

  init(_ request: Request) { self.request = request }

  func filter() throws -> ReadingFilter {
    ReadingFilter(
      serial: text("serial"),
      metric: text("metric"),
      from: try time("from"),
      to: try time("to"),
      onlyAlarms: try value("alarms", "true or false") ?? false
    )
  }

  func text(_ name: String) -> String? {
    request.uri.queryParameters[Substring(name)].map(String.init)
  }

  func time(_ name: String) throws -> Date? {
    guard let text = text(name) else { return nil }
    guard let time = TelemetryContext.time(text) else {
      throw refusal(name, "a time as 2026-11-22T10:00:00Z", text)
    }
    return time
  }

  func value<Value: LosslessStringConvertible>(_ name: String, _ expected: String) throws -> Value?
  {
    guard let text = text(name) else { return nil }
    guard let value = Value(text) else { throw refusal(name, expected, text) }
    return value
  }

  func number(_ name: String, in range: ClosedRange<Int>, default: Int) throws -> Int {
    let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
    guard let number: Int = try value(name, expected) else { return `default` }
    guard range.contains(number) else { throw refusal(name, expected, String(number)) }
    return number
  }

  private func refusal(_ name: String, _ expected: String, _ found: String) -> HTTPError {
    HTTPError(.badRequest, message: "\(name): expected \(expected); found \(found)")
  }
}

extension HTTPField.Name {
  /// The header that an `EventSource` sends when it connects again.
  static let lastEventID: HTTPField.Name = {
    guard let name = HTTPField.Name("Last-Event-ID") else {
      preconditionFailure("Last-Event-ID is a name of a field")
    }
    return name
  }()
}
