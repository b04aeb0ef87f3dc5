public import Foundation
public import Harness

/// Ours, since Foundation has a type of the same name.
public typealias Measurement = Harness.Measurement

/// All figures of a run.
public struct Results {
  public let measurements: [Measurement]
  public let distributions: [LatencyDistribution]
  public let timelines: [Timeline]
  /// The machine, the date and the command, in a line.
  public let circumstances: String

  public init(
    _ measurements: [Measurement],
    _ distributions: [LatencyDistribution],
    _ timelines: [Timeline] = [],
    circumstances: String
  ) {
    self.measurements = measurements
    self.distributions = distributions
    self.timelines = timelines
    self.circumstances = circumstances
  }

  /// Reads figures as `run` keeps them.
  ///
  /// - Parameter file: An array of measurements in JSON.
  /// - Returns: The figures.
  /// - Throws: What the file system or the decoder throws.
  public static func measurements(in file: URL) throws -> [Measurement] {
    try JSONDecoder().decode([Measurement].self, from: Data(contentsOf: file))
  }

  /// Reads curves of latencies; none if there is no file, for not every group times one by one.
  public static func distributions(in file: URL) throws -> [LatencyDistribution] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try JSONDecoder().decode([LatencyDistribution].self, from: Data(contentsOf: file))
  }

  /// Reads the figures of contenders second by second; none if there is no file.
  public static func timelines(in file: URL) throws -> [Timeline] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try JSONDecoder().decode([Timeline].self, from: Data(contentsOf: file))
  }

  /// The groups, in the order they ran.
  var groups: [String] { distinct(measurements.map { $0.group ?? "" }) }

  /// The figures of a group.
  func measurements(of group: String) -> [Measurement] {
    measurements.filter { ($0.group ?? "") == group }
  }

  /// The entrants with their settings, one line each.
  func settings(_ measurements: [Measurement]) -> [String] {
    distinct(measurements.map { "\($0.contender): \($0.settings)" })
  }
}

/// The elements in the order of their first appearance.
func distinct<Element: Hashable>(_ elements: [Element]) -> [Element] {
  var seen: Set<Element> = []
  return elements.filter { seen.insert($0).inserted }
}
