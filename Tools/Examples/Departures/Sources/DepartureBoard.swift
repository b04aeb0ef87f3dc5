import SwiftData
import TextScreen
import TextScreenData

/// The flights that leave next.
struct DepartureBoard: View {
  @Query(sort: \Departure.due) private var departures: [Departure]

  var body: some View {
    VStack {
      Text("\(departures.count) departures")
      ForEach(departures) { departure in DepartureLine(departure: departure) }
    }
  }
}

struct DepartureLine: View {
  let departure: Departure

  var body: some View {
    Text(
      "\(departure.due.formatted(.iso8601.time(includingFractionalSeconds: false)))  \(departure.destination)"
        + (departure.delay > 0 ? "  \(departure.delay) min late" : "")
    )
  }
}
