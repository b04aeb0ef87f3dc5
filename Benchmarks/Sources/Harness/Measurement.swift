/// One figure of the results; its coded form is stable.
public struct Measurement: Codable, Sendable {
  public var workload: String
  public var contender: String
  public var metric: String
  public var median: Double
  public var min: Double
  public var max: Double
  public var runs: Int
  public var settings: String
}
