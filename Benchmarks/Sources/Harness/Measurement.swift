/// One figure of the results; its coded form is stable.
public struct Measurement: Codable, Sendable, Equatable {
  /// The group that measured it; results kept from before there were names of groups have none.
  public var group: String?
  public var workload: String
  public var contender: String
  public var metric: String
  public var median: Double
  public var min: Double
  public var max: Double
  public var runs: Int
  public var settings: String
  /// The event that the workload's commits wait for; absent if it times none.
  public var durability: Durability?

  public init(
    group: String? = nil,
    workload: String,
    contender: String,
    metric: String,
    median: Double,
    min: Double,
    max: Double,
    runs: Int,
    settings: String,
    durability: Durability? = nil
  ) {
    self.group = group
    self.workload = workload
    self.contender = contender
    self.metric = metric
    self.median = median
    self.min = min
    self.max = max
    self.runs = runs
    self.settings = settings
    self.durability = durability
  }
}
