public import Harness

/// A contender who saves trips.
public struct Saving {
  public let contender: Contender
  public let settings: String
  public let saver: any TripSaver

  public init(contender: Contender, settings: String, saver: any TripSaver) {
    self.contender = contender
    self.settings = settings
    self.saver = saver
  }
}
