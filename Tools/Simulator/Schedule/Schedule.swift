import Foundation

/// A setting and the steps made on it: all that is needed to see again what happened.
struct Schedule: Codable, Sendable {
  var setting: Setting
  var operations: [Operation]

  /// Makes the steps of a seed, and notes them.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - kind: The class of the schedule.
  ///   - stepCount: The number of steps.
  ///   - folder: The folder for the store.
  ///   - noting: Called before each step, so that it can be written down what led to a crash.
  /// - Returns: The steps, and where the store and the oracle part, if they do.
  static func draw(
    seed: UInt64,
    kind: ScheduleKind,
    stepCount: Int,
    in folder: URL,
    noting: (Setting, Operation?) -> Void = { _, _ in }
  ) -> (schedule: Schedule, violation: Violation?) {
    if kind.hasThreads {
      let schedule = Schedule.drawThreads(
        seed: seed,
        stepCount: stepCount,
        isCrowded: kind == .crowd
      )
      noting(schedule.setting, nil)
      for operation in schedule.operations { noting(schedule.setting, operation) }
      return (schedule, schedule.run(in: folder, name: "seed-\(seed)"))
    }
    var generator = Generator(seed: seed, kind: kind, stepCount: stepCount)
    var schedule = Schedule(setting: generator.setting, operations: [])
    noting(schedule.setting, nil)
    do {
      let world = try World(schedule.setting, in: folder, name: "seed-\(seed)")
      defer { world.close() }
      for _ in 0..<stepCount {
        let operation = generator.next(in: world)
        schedule.operations.append(operation)
        noting(schedule.setting, operation)
        try world.perform(operation)
      }
      try world.finish()
      return (schedule, nil)
    } catch {
      return (schedule, (error as? Violation) ?? Violation(.error, "\(error)"))
    }
  }

  /// The steps of each thread.
  var threads: [[Operation]] {
    setting.threadCount == 0
      ? []
      : (1...setting.threadCount).map { number in operations.filter { $0.context == number } }
  }

  /// Makes the steps again.
  ///
  /// - Parameters:
  ///   - folder: The folder for the store.
  ///   - name: The name of the store.
  ///   - orders: In how many orders to let threads take turns, if there are any.
  /// - Returns: The first difference between the store and the oracle, if there is one.
  func run(in folder: URL, name: String = "replay", orders: Int = 1) -> Violation? {
    for order in 0..<(setting.threadCount == 0 ? 1 : orders) {
      if let violation = run(in: folder, name: name, order: UInt64(order)) { return violation }
    }
    return nil
  }

  private func run(in folder: URL, name: String, order: UInt64) -> Violation? {
    do {
      let world = try World(setting, in: folder, name: name)
      defer { world.close() }
      for operation in operations where setting.threadCount == 0 || operation.context == 0 {
        try world.perform(operation)
      }
      if setting.threadCount > 0 {
        try ThreadedRun(self, world).run(seed: setting.threadSeed &+ order)
      }
      try world.finish()
      return nil
    } catch {
      return (error as? Violation) ?? Violation(.error, "\(error)")
    }
  }
}
