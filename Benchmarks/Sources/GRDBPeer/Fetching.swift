public import Harness

/// A contender who fetches trips and sums up what it reads.
public struct Fetching {
  public let contender: Contender
  public let settings: String
  public let fetch: () throws -> Int

  public init(contender: Contender, settings: String, fetch: @escaping () throws -> Int) {
    self.contender = contender
    self.settings = settings
    self.fetch = fetch
  }
}
