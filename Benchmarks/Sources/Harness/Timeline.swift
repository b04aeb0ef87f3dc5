/// The figures of a contender second by second, for plots and for stored results.
public struct Timeline: Codable, Sendable, Equatable {
  public var group: String?
  public var workload: String
  public var contender: String
  /// Rows a second, in each second since the begin.
  public var rowsPerSecond: [Double] = []
  /// The longest commit that ended in each second, in microseconds.
  public var longestMicroseconds: [Double] = []

  public init(_ group: String?, _ workload: Workload, _ contender: Contender) {
    self.group = group
    self.workload = workload.rawValue
    self.contender = contender.rawValue
  }
}
