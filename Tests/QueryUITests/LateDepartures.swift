import SwiftData
import TextScreen
import TextScreenData

// What the article on queries in views shows.

@Model final class Departure {
  var number: Int
  var destination: String
  var due: Date
  var delay: Int

  init(_ number: Int, to destination: String, delay: Int = 0) {
    self.number = number
    self.destination = destination
    due = Date(timeIntervalSince1970: Double(number))
    self.delay = delay
  }
}

struct LateDepartures: View {
  @Query private var departures: [Departure]
  @Environment(\.modelContext) private var modelContext

  init(by minutes: Int) {
    _departures = Query(filter: #Predicate { $0.delay >= minutes }, sort: \.due)
  }

  var body: some View {
    if let error = _departures.fetchError { Text("\(error)") }
    ForEach(departures) { departure in Text(departure.destination) }
  }
}

struct DepartureSpellings: View {
  @Query private var all: [Departure]
  @Query(sort: \.due, order: .reverse) private var last: [Departure]
  @Query(filter: #Predicate { $0.delay > 0 }, sort: [SortDescriptor(\.number)])
  private var late: [Departure]

  var body: some View {
    Text([all, last, late].map { $0.map { "\($0.number)" }.joined() }.joined(separator: " "))
  }
}
