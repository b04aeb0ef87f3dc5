import Foundation

/// The figures of a process of its own for one workload, as it passes them on.
public struct CompanionFigures: Codable, Sendable {
  public var workload: String
  public var figures: [String: Double]

  public init(_ workload: Workload, _ sample: Sample) {
    self.workload = workload.rawValue
    figures = [:]
    for (metric, value) in sample.series { figures[metric.rawValue] = value }
  }

  /// The figures as those of a repetition.
  public var sample: Sample {
    var sample = Sample([:])
    for (name, value) in figures {
      if let metric = Metric(rawValue: name) { sample.figures[metric] = value }
    }
    return sample
  }
}

extension Companion {
  /// Passes figures on to the process that started this one.
  ///
  /// - Throws: What the encoder throws.
  public static func tell(_ workload: Workload, _ sample: Sample) throws {
    let line = try JSONEncoder().encode(CompanionFigures(workload, sample))
    say(String(decoding: line, as: UTF8.self))
  }

  /// Waits for the next figures that the process passes on.
  ///
  /// - Returns: The figures; `nil` once the process has closed its output.
  /// - Throws: What the decoder throws.
  public func nextFigures() throws -> CompanionFigures? {
    guard let line = readLine() else { return nil }
    return try JSONDecoder().decode(CompanionFigures.self, from: Data(line.utf8))
  }
}

/// A process of a contender did not come to its end.
public struct CompanionFailure: Error, CustomStringConvertible {
  public let description: String

  public init(_ contender: Contender) { description = "a process of \(contender.rawValue) failed" }
}
