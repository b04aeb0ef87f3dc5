import SwiftData

@Model final class Ticket {
  var seat: String
  var price: Int
  var note: String?
  var show: Show?

  init(_ seat: String, price: Int) {
    self.seat = seat
    self.price = price
  }
}

@Model final class Show {
  var title: String
  @Relationship(deleteRule: .cascade, inverse: \Ticket.show) var tickets: [Ticket] = []

  init(_ title: String) { self.title = title }
}

/// A folder for one test, removed when the test is over.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "logstore-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
