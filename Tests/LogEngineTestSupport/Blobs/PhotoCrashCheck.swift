import LogEngine

/// Opens stores of photos that a power cut left, and holds them against what was promised.
struct PhotoCrashCheck {
  let seed: UInt64
  /// What the store may hold, by commit.
  let states: [PhotoLedger.Rows]
  let options: EngineOptions
  /// The newest commit found in each state, by the disk's hash.
  private var found: [UInt64: Int] = [:]
  private(set) var violations: [Violation] = []

  var openedStates: Set<UInt64> { Set(found.keys) }

  init(seed: UInt64, states: [PhotoLedger.Rows], options: EngineOptions) {
    self.seed = seed
    self.states = states
    var options = options
    options.durability = .full
    self.options = options
  }

  /// Opens every state a power cut at a moment may leave, and what the end of the process leaves.
  mutating func check(
    _ moment: PhotoLedger.Moment,
    limits: CrashStateLimits,
    depth: Int,
    note: String = ""
  ) {
    let random = SeededGenerator(seed: seed).forked(UInt64(moment.call.number))
    moment.disk.forEachCrashState(random: random, limits: limits) { state in
      check(
        state.disk,
        state.hash,
        moment.promise.afterPowerCut,
        durable: moment.promise.durable,
        depth: depth,
        place: { note + Self.describe(moment) + ", \(state.scenario)" }
      )
    }
    check(
      moment.disk,
      moment.disk.hash ^ 1,
      moment.promise.afterProcessEnd,
      durable: moment.promise.durable,
      depth: depth,
      place: { note + Self.describe(moment) + ", the process ends" }
    )
  }

  private static func describe(_ moment: PhotoLedger.Moment) -> String {
    "step \(moment.step), before call \(moment.call.number) "
      + "(\(moment.call.operation.rawValue) \(moment.call.path))"
  }

  private mutating func check(
    _ disk: Disk,
    _ hash: UInt64,
    _ allowed: ClosedRange<Int>,
    durable: Int,
    depth: Int,
    place: () -> String
  ) {
    if let known = found[hash] {
      if !allowed.contains(known) {
        report(place(), Mismatch("commit \(known) is the newest found, \(allowed) are allowed"))
      }
      return
    }
    let ledger = depth > 0 && hash % 64 == 0 ? PhotoLedger() : nil
    var observer: SimulatedFileSystem.Observer?
    if let ledger { observer = { call, disk in ledger.record(call, disk) } }
    let fileSystem = SimulatedFileSystem(seed: seed ^ hash, disk: disk, observer: observer)
    var moments: [PhotoLedger.Moment] = []
    do {
      let recovered = try open(fileSystem, states, allowed)
      found[hash] = recovered
      moments = ledger?.moments ?? []
      try goOn(from: recovered, hash, on: fileSystem)
    } catch {
      found[hash] = found[hash] ?? allowed.lowerBound
      report(place(), error)
    }
    // A crash while the store is opened and swept.
    for moment in moments {
      var inner = moment
      inner.promise = Promise(
        durable: durable,
        acknowledged: allowed.lowerBound,
        issued: allowed.upperBound
      )
      check(inner, limits: .few, depth: depth - 1, note: "in the recovery from \(place()): ")
    }
  }

  /// Opens a store, compares it with what it may hold, sweeps it, and compares again.
  private func open(
    _ fileSystem: SimulatedFileSystem,
    _ states: [PhotoLedger.Rows],
    _ allowed: ClosedRange<Int>
  ) throws -> Int {
    let known = fileSystem.disk.paths.contains { $0.hasSuffix(".seg") }
    let store = try PhotoStore(on: fileSystem, options)
    var newest = Int(store.engine.lastCommit.rawValue)
    // Opening a store whose first commit was lost makes its table again.
    if newest == 1, !allowed.contains(1), !known || allowed.contains(0) { newest = 0 }
    guard allowed.contains(newest), states.indices.contains(newest) else {
      throw Mismatch("commit \(newest) is the newest, \(allowed) are allowed")
    }
    try store.check(states[newest])
    store.settle()
    try store.check(states[newest])
    try checkFiles(store, states[newest])
    return newest
  }

  /// There must be a file for each photo, and no other.
  private func checkFiles(_ store: PhotoStore, _ rows: PhotoLedger.Rows) throws {
    let usage = try store.engine.blobUsage()
    let expected = rows.external(above: store.threshold)
    guard usage.fileCount == expected.count, usage.byteCount == expected.byteCount else {
      throw Mismatch("there are \(usage), expected \(expected)")
    }
  }

  /// Goes on after a recovery, one way for each state, and opens the store once more after a power cut.
  private func goOn(
    from recovered: Int,
    _ hash: UInt64,
    on fileSystem: SimulatedFileSystem
  ) throws {
    guard recovered > 0 else { return }
    var states = states
    var expected = recovered
    switch hash >> 32 & 3 {
    case 0: break
    case 1: try PhotoStore(on: fileSystem, options).engine.close()
    default:
      let store = try PhotoStore(on: fileSystem, options)
      var rows = states[recovered]
      let photo = Photo(seed: hash, byteCount: 101 + Int(hash % 5000))
      let change = PhotoStore.Change.insert(store.newKey(), PhotoRow(title: "after", photo: photo))
      rows.apply([change])
      try store.commit([change])
      expected += 1
      states = states.prefix(recovered + 1) + [rows]
    }
    let disk = fileSystem.disk
    let cut = disk.afterPowerCut(Scenario.nothingKept.fates(of: disk.pending))
    do {
      _ = try open(
        SimulatedFileSystem(seed: seed ^ hash ^ 1, disk: cut),
        states,
        expected...expected
      )
    } catch let mismatch as Mismatch {
      throw Mismatch("opened again (way \(hash >> 32 & 3)): \(mismatch.description)")
    }
  }

  private mutating func report(_ place: String, _ error: any Error) {
    let problem = (error as? Mismatch)?.description ?? "\(error)"
    violations.append(Violation(area: .blobs, seed: seed, place: place, problem: problem))
  }
}
