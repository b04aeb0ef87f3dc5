import Harness

/// A contender who fetches trips and sums up what it reads.
struct Fetching {
  let contender: Contender
  let settings: String
  let fetch: () throws -> Int
}
