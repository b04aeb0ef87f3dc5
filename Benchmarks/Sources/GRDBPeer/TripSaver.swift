public import Workloads

/// Stores new trips, all that are given at once.
public protocol TripSaver {
  func save(_ records: ArraySlice<TripRecord>) throws
}
