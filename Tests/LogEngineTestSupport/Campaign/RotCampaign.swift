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
    var random = SeededGenerator(seed: seed).forked(5)
    do {
      let closed = try RotTrial(seed: seed, stepCount: stepCount)
      result.damage(closed, seed, count: damageCount) { Damage.random(in: $0, using: &random) }
      let killed = try RotTrial(seed: seed, stepCount: stepCount, ending: .killed)
      result.damage(killed, seed, count: damageCount / 4) {
        Damage.randomFlip(in: $0, using: &random)
      }
      try MovedFrames.run(seed: seed, &random, &result)
    } catch {
      result.report(.rot, seed, "undamaged", error)
    }
    return result
  }
}

extension CampaignResult {
  /// Opens a store again and again, damaged each time in another way.
  fileprivate mutating func damage(
    _ undamaged: RotTrial,
    _ seed: UInt64,
    count: Int,
    _ makeDamage: (Disk) -> Damage?
  ) {
    states.insert(undamaged.disk.hash)
    for _ in 0..<count {
      var trial = undamaged
      guard let damage = makeDamage(trial.disk) else { continue }
      damage.apply(to: &trial.disk)
      guard states.insert(trial.disk.hash).inserted else { continue }
      if case .wrong(let problem) = trial.outcome(seed: seed) {
        report(.rot, seed, "\(damage)", Mismatch(problem))
      }
    }
  }
}

/// A store that was damaged after it had been closed, or after its process had been killed.
package struct RotTrial: Sendable {
  package var disk: Disk
  /// What it held, by commit; the last is what it should hold.
  package var states: [StoreContent]
  package var options: EngineOptions
  /// Which commits may be the newest found.
  package var allowed: ClosedRange<Int>

  package enum Ending: Sendable { case closed, killed }

  /// Runs a workload and ends it.
  package init(seed: UInt64, stepCount: Int, ending: Ending = .closed) throws {
    var workload = Workload(seed: seed, stepCount: stepCount)
    workload.options.durability = .full
    let fileSystem = SimulatedFileSystem(seed: seed)
    var run = WorkloadRun(workload, on: fileSystem, ledger: Ledger())
    for step in workload.steps.indices { try run.perform(step) }
    if ending == .closed { try run.close() } else { run.abandon() }
    disk = fileSystem.disk
    states = run.ledger.model.states
    // The very last commit of a store that was killed has nothing after it to bear witness to it.
    let newest = states.count - 1
    allowed = max(0, ending == .closed ? newest : newest - 1)...newest
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
    do {
      let fileSystem = SimulatedFileSystem(seed: seed, disk: disk)
      let store = try TestedStore(opening: WorkloadRun.path, on: fileSystem, options)
      try store.check(against: states, allowed: allowed)
      return .harmless
    } catch let error as StorageError {
      return .detected(error)
    } catch {
      return .wrong((error as? Mismatch)?.description ?? "\(error)")
    }
  }
}
