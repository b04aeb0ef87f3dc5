import Workloads

/// Stores new trips, all that are given at once.
protocol TripSaver {
  func save(_ records: ArraySlice<TripRecord>) throws
}
