import Foundation
import Harness

/// An operation of the context's API, whose cost for many models is compared with that for few.
struct Growth {
  let name: String
  /// Prepares the operation for a number of models, and returns the part that is timed.
  let prepare: (Sample, _ count: Int) throws -> () throws -> Void

  init(
    _ name: String,
    prepare: @escaping (Sample, _ count: Int) throws -> () throws -> Void
  ) {
    self.name = name
    self.prepare = prepare
  }

  static var all: [Growth] {
    lists + graphs + contexts + pending + requests + earlierStates + queues
  }
}

/// The costs of an operation at each number of models.
struct Curve {
  private(set) var points: [(count: Int, nanoseconds: Double)] = []
  /// Whether the greatest number was left out, as the ones before it had shown enough.
  private(set) var isCutShort = false

  /// Measures an operation.
  ///
  /// The processor's time of the calling thread counts, and of several repetitions the least: other work of
  /// the machine makes a figure greater, never smaller.
  ///
  /// - Parameters:
  ///   - growth: The operation.
  ///   - counts: The numbers of models, ascending.
  /// - Throws: What the operation throws.
  init(_ growth: Growth, counts: [Int]) throws {
    for count in counts {
      // A quadratic operation would take minutes with the greatest number, and is found out without it.
      if points.count > 1, exponent > 1.5 {
        isCutShort = true
        return
      }
      points.append((count, try Self.measure(growth, count)))
    }
  }

  private static func measure(_ growth: Growth, _ count: Int) throws -> Double {
    var least = Double.infinity
    var total = 0.0
    for repetition in 0..<7 {
      let sample = try Sample()
      let work = try growth.prepare(sample, count)
      let start = threadProcessorNanoseconds()
      try work()
      let elapsed = Double(threadProcessorNanoseconds() - start)
      // The models do not keep their context, nor does all work name it.
      withExtendedLifetime(sample) {}
      least = min(least, elapsed)
      total += elapsed
      if repetition >= 1, total > 1e9 { break }
    }
    return least
  }

  /// The power of the number of models that the cost grows with: 1 is linear, 2 is quadratic.
  ///
  /// The slope of the straight line through the points on logarithmic axes, by least squares; or that between the last two
  /// points, if it is less. Work that grows too fast does so all the more with the most models. Work that outgrows the
  /// processor's caches is steep at that point, and no steeper beyond it.
  var exponent: Double {
    let logarithms = points.map { (x: log(Double($0.count)), y: log($0.nanoseconds)) }
    let meanX = logarithms.map(\.x).reduce(0, +) / Double(points.count)
    let meanY = logarithms.map(\.y).reduce(0, +) / Double(points.count)
    let covariance = logarithms.map { ($0.x - meanX) * ($0.y - meanY) }.reduce(0, +)
    let variance = logarithms.map { ($0.x - meanX) * ($0.x - meanX) }.reduce(0, +)
    let last = logarithms.suffix(2)
    guard let from = last.first, let to = last.last, from.x < to.x else {
      return covariance / variance
    }
    return min(covariance / variance, (to.y - from.y) / (to.x - from.x))
  }
}
