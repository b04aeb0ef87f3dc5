import SwiftData

@Model final class Journey {
  var name: String
  var destination: String
  var startDate: Date
  @Relationship(deleteRule: .cascade, inverse: \Wish.journey) var wishes: [Wish] = []

  init(name: String, destination: String, startDate: Date) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
  }
}

@Model final class Wish {
  var title: String
  var isDone = false
  var journey: Journey?

  init(_ title: String) { self.title = title }
}

extension Date {
  /// A day of the year 2026.
  static func day(_ number: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: 788_918_400 + Double(number) * 86_400)
  }
}

/// A folder for one test, removed when the test is over.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "journeys-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
