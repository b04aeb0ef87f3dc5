import Foundation
import Synchronization

/// Runs the inputs of one fuzzer, one seed each.
///
/// `Tools/fuzz` passes the duration and the first seed in the environment. If an input ends the process, the log file
/// names it. A plain run of the tests skips fuzzers: a trap would end the whole run.
package struct FuzzRun {
  /// Whether `Tools/fuzz` runs this process.
  package static var isAsked: Bool {
    ProcessInfo.processInfo.environment["LOGSTORE_FUZZ_LOG"] != nil
  }

  private let target: String
  private let seconds: Double?
  private let firstSeed: UInt64
  private let count: Int
  private let log: FileHandle?

  /// Begins a run; `nil` if `Tools/fuzz` runs another target.
  ///
  /// - Parameters:
  ///   - target: The fuzzer's name.
  ///   - count: The number of inputs if the environment gives none.
  package init?(_ target: String, count: Int) {
    let environment = ProcessInfo.processInfo.environment
    self.target = target
    guard let path = environment["LOGSTORE_FUZZ_LOG"] else {
      (seconds, firstSeed, self.count, log) = (nil, 1, count, nil)
      return
    }
    guard environment["LOGSTORE_FUZZ_TARGET"] == target else { return nil }
    seconds = environment["LOGSTORE_FUZZ_SECONDS"].flatMap(Double.init)
    firstSeed = environment["LOGSTORE_FUZZ_SEED"].flatMap(UInt64.init) ?? 1
    self.count = environment["LOGSTORE_FUZZ_COUNT"].flatMap(Int.init) ?? .max
    log = FileHandle(forUpdatingAtPath: path)
  }

  /// Runs the inputs.
  ///
  /// - Parameter body: Runs one input from a seeded generator; an error that it throws is a failure.
  /// - Returns: The failures, each with the seed that reproduces it.
  package func run(_ body: (inout SeededGenerator) throws -> Void) -> [String] {
    let start = ContinuousClock.now
    let watch = InputWatch(target)
    defer { watch.end() }
    var failures: [String] = []
    var executions = 0
    for offset in 0..<UInt64(count) {
      if let seconds, ContinuousClock.now - start > .seconds(seconds) { break }
      let seed = firstSeed &+ offset
      log("input \(target) \(seed) \(executions)\n")
      watch.begin(seed)
      let memory = Self.greatestMemory()
      do {
        var random = Self.generator(seed: seed, of: target)
        try body(&random)
      } catch {
        failures.append("\(target) --seed \(seed): \(error)")
      }
      executions += 1
      let growth = Self.greatestMemory() - memory
      if growth > Self.memoryLimit {
        failures.append("\(target) --seed \(seed): took \(growth >> 20) MiB")
      }
    }
    log("done \(target) \(executions)\n" + failures.map { "failure \($0)\n" }.joined())
    return failures
  }

  /// The limit of the memory that one input may add to the peak so far.
  private static let memoryLimit = 512 << 20

  /// Overwrites the log file: only the last entry matters, and a trap may come at any moment.
  private func log(_ text: String) {
    guard let log else { return }
    try? log.seek(toOffset: 0)
    try? log.write(contentsOf: Data(text.utf8))
    try? log.truncate(atOffset: UInt64(text.utf8.count))
  }

  /// What makes the input of a seed for a target.
  package static func generator(seed: UInt64, of target: String) -> SeededGenerator {
    SeededGenerator(seed: seed).forked(purpose(of: target))
  }

  private static func purpose(of target: String) -> UInt64 {
    target.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// The peak memory of the process, in bytes.
  private static func greatestMemory() -> Int {
    var usage = rusage()
    // RUSAGE_SELF, which is a number here and an enumeration there.
    getrusage(0, &usage)
    #if canImport(Darwin)
    return usage.ru_maxrss
    #else
    return usage.ru_maxrss << 10
    #endif
  }
}

/// Ends the process when one input takes too long: nothing else can stop a decoder that loops.
private final class InputWatch: @unchecked Sendable {
  private let target: String
  /// Guards the fields below; signaled at the end only, since inputs begin a thousand times a second.
  private let condition = NSCondition()
  private var seed: UInt64 = 0
  private var deadline = Date.distantFuture
  private var hasEnded = false

  private static let limit: TimeInterval = 60

  init(_ target: String) {
    self.target = target
    Thread.detachNewThread { [self] in watch() }
  }

  private func watch() {
    condition.lock()
    defer { condition.unlock() }
    while !hasEnded {
      // An input that has begun since has a later deadline.
      _ = condition.wait(until: min(deadline, Date(timeIntervalSinceNow: Self.limit)))
      if hasEnded || deadline > Date() { continue }
      FileHandle.standardError.write(
        Data("\(target) --seed \(seed): not done after \(Self.limit) s\n".utf8)
      )
      abort()
    }
  }

  func begin(_ seed: UInt64) {
    condition.withLock {
      self.seed = seed
      deadline = Date(timeIntervalSinceNow: Self.limit)
    }
  }

  func end() {
    condition.withLock {
      hasEnded = true
      condition.signal()
    }
  }
}
