/// Moves labels apart that would cover one another.
enum LabelPlaces {
  /// Spreads places so that none are closer than a distance, each moved as little as is simple.
  ///
  /// - Parameters:
  ///   - wanted: The wanted places of the labels.
  ///   - distance: The least distance between them.
  ///   - range: The range of the places; too many for it are pushed out at its end.
  /// - Returns: The places, in the order of `wanted`.
  static func spread(
    _ wanted: [Double],
    apart distance: Double,
    within range: ClosedRange<Double>
  ) -> [Double] {
    let order = wanted.indices.sorted { wanted[$0] < wanted[$1] }
    var places = wanted
    // Down the page each keeps clear of the one before; then back up from the end.
    var least = range.lowerBound
    for index in order {
      places[index] = max(places[index], least)
      least = places[index] + distance
    }
    var most = range.upperBound
    for index in order.reversed() where places[index] > most || most < range.upperBound {
      places[index] = min(places[index], most)
      most = places[index] - distance
    }
    return places
  }
}
