package import LogEngine

/// Opens stores that a power cut left, and holds them against what was promised.
///
/// Each state is opened once; what was found there is remembered, so that the same bytes met again
/// under a greater promise are still held to it.
package struct CrashCheck {
  let area: Area
  let seed: UInt64
  /// What the store may hold, by commit.
  let states: [StoreContent]
  let options: EngineOptions
  /// The newest commit found in each state, by the disk's hash.
  private var found: [UInt64: Int] = [:]
  package private(set) var violations: [Violation] = []

  /// The states that were opened, by hash.
  package var openedStates: Set<UInt64> { otherStates.union(found.keys) }

  /// States that were opened under promises of their own.
  private var otherStates: Set<UInt64> = []

  package init(area: Area, seed: UInt64, states: [StoreContent], options: EngineOptions) {
    self.area = area
    self.seed = seed
    self.states = states
    self.options = options
  }

  /// Opens every state a power cut at a moment may leave.
  ///
  /// - Parameters:
  ///   - moment: The disk, and what was promised.
  ///   - limits: How many states.
  ///   - depth: How many more crashes may strike the recovery from this one.
  package mutating func check(
    _ moment: Ledger.Moment,
    limits: CrashStateLimits,
    depth: Int
  ) {
    let random = SeededGenerator(seed: seed).forked(UInt64(moment.call.number))
    moment.disk.forEachCrashState(random: random, limits: limits) { state in
      let place = Place(moment: moment, scenario: state.scenario)
      check(state, moment.promise.afterPowerCut, depth: depth, place: [place])
    }
  }

  /// Ends the process at a moment, opens the store on what the system still shows of it, commits, and
  /// cuts the power.
  ///
  /// What the next process finds may not be on the disk: names and bytes that the first one made and
  /// had not synchronized. It must not build on them before they are.
  package mutating func checkProcessEnd(_ moment: Ledger.Moment) {
    let fileSystem = SimulatedFileSystem(
      seed: seed ^ UInt64(moment.call.number),
      disk: moment.disk
    )
    let place = Place(moment: moment, scenario: .everythingKept)
    do {
      let promise = moment.promise
      let (recovered, after) = try open(fileSystem) { store in
        let recovered = try store.check(against: states, allowed: promise.afterProcessEnd)
        return (recovered, try commitAfterwards(to: store, recovered: recovered))
      }
      var check = CrashCheck(area: area, seed: seed, states: after, options: options)
      let owed = Promise(durable: recovered + 1, acknowledged: recovered + 1, issued: recovered + 1)
      let end = SimulatedFileSystem.Call(
        number: moment.call.number,
        operation: moment.call.operation,
        path: "the process ends, and after the next one's commit"
      )
      check.check(
        Ledger.Moment(call: end, step: moment.step, disk: fileSystem.disk, promise: owed),
        limits: .few,
        depth: 0
      )
      otherStates.formUnion(check.openedStates)
      violations += check.violations
    } catch {
      report([place], error)
    }
  }

  /// Makes one more commit.
  ///
  /// - Returns: What the store may hold then, by commit.
  private func commitAfterwards(
    to store: TestedStore,
    recovered: Int
  ) throws -> [StoreContent] {
    let changes = [CatalogueChange.addTable(name: "after \(recovered)")]
    var content = states[recovered]
    for change in changes { content.apply(change) }
    _ = try store.changeCatalogue(changes)
    return states.prefix(recovered + 1) + [content]
  }

  private mutating func check(
    _ state: CrashState,
    _ allowed: ClosedRange<Int>,
    depth: Int,
    place: [Place]
  ) {
    if let known = found[state.hash] {
      if !allowed.contains(known) {
        report(place, Mismatch("commit \(known) is the newest found, \(allowed) are allowed"))
      }
      return
    }
    // Opening again from scratch and crashing during that is dear: a share of the states will do.
    let ledger = depth > 0 && state.hash % 24 == 0 ? Ledger() : nil
    let fileSystem = SimulatedFileSystem(seed: seed ^ state.hash, disk: state.disk, ledger: ledger)
    do {
      let recovered = try open(fileSystem) { try $0.check(against: states, allowed: allowed) }
      found[state.hash] = recovered
      for moment in ledger?.moments ?? [] {
        checkRecovery(moment, allowed, depth: depth - 1, place: place)
      }
      try checkAftermath(of: state, on: fileSystem, recovered: recovered)
    } catch {
      found[state.hash] = found[state.hash] ?? allowed.lowerBound
      report(place, error)
    }
  }

  /// Opens the states that a power cut during a recovery may leave.
  private mutating func checkRecovery(
    _ moment: Ledger.Moment,
    _ allowed: ClosedRange<Int>,
    depth: Int,
    place: [Place]
  ) {
    let random = SeededGenerator(seed: seed).forked(UInt64(moment.call.number))
    moment.disk.forEachCrashState(random: random, limits: .few) { state in
      let inner = Place(moment: moment, scenario: state.scenario)
      check(state, allowed, depth: depth, place: place + [inner])
    }
  }

  /// Goes on after a recovery, one way for each state, and opens the store once more.
  private func checkAftermath(
    of state: CrashState,
    on fileSystem: SimulatedFileSystem,
    recovered: Int
  ) throws {
    var disk = fileSystem.disk
    var states = states
    var expected = recovered
    switch state.hash >> 32 & 3 {
    case 0: break
    case 1: disk = disk.afterPowerCut(Scenario.nothingKept.fates(of: disk.pending))
    case 2:
      try open(fileSystem) { try $0.close() }
      disk = fileSystem.disk
      disk = disk.afterPowerCut(Scenario.nothingKept.fates(of: disk.pending))
    default:
      expected += 1
      states = try open(fileSystem) { try commitAfterwards(to: $0, recovered: recovered) }
      disk = fileSystem.disk
      disk = disk.afterPowerCut(Scenario.nothingKept.fates(of: disk.pending))
    }
    let again = SimulatedFileSystem(seed: seed ^ state.hash ^ 1, disk: disk)
    try open(again) { store in
      do {
        _ = try store.check(against: states, allowed: expected...expected)
      } catch let mismatch as Mismatch {
        throw Mismatch("opened again (way \(state.hash >> 32 & 3)): \(mismatch.description)")
      }
    }
  }

  private func open<R>(
    _ fileSystem: SimulatedFileSystem,
    _ body: (TestedStore) throws -> R
  ) throws -> R {
    var options = options
    options.durability = .full
    return try body(TestedStore(opening: WorkloadRun.path, on: fileSystem, options))
  }

  private mutating func report(_ place: [Place], _ error: any Error) {
    let problem = (error as? Mismatch)?.description ?? "\(error)"
    violations.append(Violation(area: area, seed: seed, place: place.description, problem: problem))
  }
}

/// Where a crash struck: in a workload or, after the first, in the recovery from the one before.
///
/// Made for each of a million states, and put into words only for those that show a violation.
private struct Place {
  var moment: Ledger.Moment
  var scenario: Scenario
}

extension [Place] {
  fileprivate var description: String {
    map { place in
      let call = place.moment.call
      return "step \(place.moment.step), before call \(call.number) "
        + "(\(call.operation.rawValue) \(call.path)), \(place.scenario)"
    }.joined(separator: "; in its recovery ")
  }
}
