import Harness

/// A contender who saves trips.
struct Saving {
  let contender: Contender
  let settings: String
  let saver: any TripSaver
}
