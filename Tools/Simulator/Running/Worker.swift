import Foundation

/// Runs the schedules of some seeds in a process of its own, and reports its findings on its standard output.
struct Worker {
  var seeds: StrideThrough<UInt64>
  var kind: ScheduleKind?
  var stepCount: Int
  var folder: URL
  var beacon: Beacon?

  func run() {
    for seed in seeds {
      beacon?.begin(Setting())
      let kind = kind ?? ScheduleKind.of(seed: seed)
      let (schedule, violation) = Schedule.draw(
        seed: seed,
        kind: kind,
        stepCount: stepCount,
        in: folder,
        noting: { setting, operation in
          if let operation { beacon?.append(operation) } else { beacon?.begin(setting) }
        }
      )
      let report =
        violation.map { Report(seed: seed, violation: $0, schedule: schedule) }
        ?? Report(seed: seed)
      report.write()
    }
  }
}

/// The outcome of a seed.
struct Report: Codable, Sendable {
  var seed: UInt64
  var violation: Violation?
  var schedule: Schedule?

  func write() {
    guard var line = try? JSONEncoder().encode(self) else { return }
    line.append(UInt8(ascii: "\n"))
    FileHandle.standardOutput.write(line)
  }
}
