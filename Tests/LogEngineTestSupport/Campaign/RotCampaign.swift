package import LogEngine

/// Damages the files of a store that was closed, and reads it: right data or an error, never other
/// data, never less of it.
package enum RotCampaign {
  package static func run(
    seed: UInt64,
    stepCount: Int = 40,
    damageCount: Int = 400
  ) -> CampaignResult {
    var result = CampaignResult()
    let undamaged: RotTrial
    do {
      undamaged = try RotTrial(seed: seed, stepCount: stepCount)
    } catch {
      result.violations.append(
        Violation(area: .rot, seed: seed, place: "undamaged", problem: "\(error)")
      )
      return result
    }
    var random = SeededGenerator(seed: seed).forked(5)
    result.states = [undamaged.disk.hash]
    for _ in 0..<damageCount {
      var trial = undamaged
      guard let damage = Damage.random(in: trial.disk, using: &random) else { continue }
      damage.apply(to: &trial.disk)
      guard result.states.insert(trial.disk.hash).inserted else { continue }
      if case .wrong(let problem) = trial.outcome(seed: seed) {
        result.violations.append(
          Violation(area: .rot, seed: seed, place: "\(damage)", problem: problem)
        )
      }
    }
    return result
  }
}

/// A store that was damaged after it had been closed.
package struct RotTrial: Sendable {
  package var disk: Disk
  /// What it held, by commit; the last is what it should hold.
  package var states: [StoreContent]
  package var options: EngineOptions

  /// Runs a workload and closes its store.
  package init(seed: UInt64, stepCount: Int) throws {
    var workload = Workload(seed: seed, stepCount: stepCount)
    workload.options.durability = .full
    let fileSystem = SimulatedFileSystem(seed: seed)
    var run = WorkloadRun(workload, on: fileSystem, ledger: Ledger())
    for step in workload.steps.indices { try run.perform(step) }
    try run.close()
    disk = fileSystem.disk
    states = run.ledger.model.states
    options = workload.options
  }

  package enum Outcome: Sendable {
    /// An error said so.
    case detected(StorageError)
    /// The store holds what it should.
    case harmless
    /// It holds something else, and said nothing.
    case wrong(String)
  }

  /// Opens the store and reads everything.
  package func outcome(seed: UInt64) -> Outcome {
    let newest = states.count - 1
    do {
      let fileSystem = SimulatedFileSystem(seed: seed, disk: disk)
      let store = try TestedStore(opening: WorkloadRun.path, on: fileSystem, options)
      try store.check(against: states, allowed: newest...newest)
      return .harmless
    } catch let error as StorageError {
      return .detected(error)
    } catch {
      return .wrong((error as? Mismatch)?.description ?? "\(error)")
    }
  }
}
