import Foundation
import Harness

/// The cost of saves by several processes to one store, and the time until another process is informed of a save and shows it.
struct SharedStores {
  private let plan: Plan
  private let seconds: Double
  private let rounds: Int

  init(_ plan: Plan) {
    self.plan = plan
    seconds = plan.choose(quick: 0.5, full: 2)
    rounds = plan.choose(quick: 1, full: 3)
  }

  func run(_ report: Report) throws {
    for durability in [Harness.Durability.relaxed, .full] {
      report.add(try turns(writers(durability)))
    }
    let savers = [Saver.together, .sqlite].filter(\.isInstalled)
    report.add(try turns(savers.map(handOver)))
    report.add(
      try turns([
        delay(.heardByAnother) { .listen($0, until: $1) },
        delay(.shownByAnother) { .show($0, until: $1, allowsSave: true) },
        delay(.shownByReader) { .show($0, until: $1, allowsSave: false) },
      ])
    )
  }

  private func turns(_ entrants: [Entrant]) throws -> [Standing] {
    try RoundRobin(rounds: rounds, warmUp: .none, entrants).run()
  }

  // MARK: Saves by several processes at once

  private func writers(_ durability: Harness.Durability) -> [Entrant] {
    let isDurable = durability == .full
    let alone: Workload = isDurable ? .writerAloneDurable : .writerAlone
    let numbers: [(Workload, Int)] =
      isDurable
      ? [(.writers1Durable, 1), (.writers2Durable, 2), (.writers4Durable, 4)]
      : [(.writers1, 1), (.writers2, 2), (.writers4, 4)]
    var entrants = [writers(alone, .alone, 1, durability)]
    for (workload, count) in numbers {
      entrants.append(
        writers(
          workload,
          .together,
          count,
          durability,
          comparedWith: count == 1 ? .init(alone, .models) : .init(numbers[0].0, .models),
          targets: count == 1
            ? [Target(.rowsPerSecond, .share, .atLeast(0.95))]
            : count == 4 && isDurable ? [Target(.rowsPerSecond, .share, .atLeast(2.5))] : []
        )
      )
      if Saver.sqlite.isInstalled {
        entrants.append(
          writers(
            workload,
            .sqlite,
            count,
            durability,
            comparedWith: count == 1 ? nil : .init(numbers[0].0, .sqlite)
          )
        )
      }
    }
    return entrants
  }

  private func writers(
    _ workload: Workload,
    _ saver: Saver,
    _ count: Int,
    _ durability: Harness.Durability,
    comparedWith reference: Entrant.Key? = nil,
    targets: [Target] = []
  ) -> Entrant {
    Entrant(
      workload,
      saver.contender,
      settings: saver.settings,
      comparedWith: reference,
      targets: targets
    ) {
      try withFolder(plan, "writers") { folder in
        // Made before, so that no process waits for it to be made.
        try make(saver, folder, durability)
        let from = monotonicNanoseconds() + 500_000_000
        let until = from + UInt64(seconds * 1e9)
        let children = try (0..<count).map { _ in
          try start(.save(saver, folder, durability, from: from, until: until, pause: 0))
        }
        return try together(children.map { try figures(of: $0, saver) })
      }
    }
  }

  /// The sum of the rates, the worst of all durations, and the evenness of the saves.
  private func together(_ samples: [Harness.Sample]) -> Harness.Sample {
    let rates = samples.compactMap { $0.figures[.rowsPerSecond] }
    var figures: [Metric: Double] = [.rowsPerSecond: rates.reduce(0, +)]
    for metric in [Metric.p99Microseconds, .maximumMicroseconds] {
      figures[metric] = samples.compactMap { $0.figures[metric] }.max()
    }
    if rates.count > 1 { figures[.fairness] = (rates.min() ?? 0) / (rates.max() ?? 1) }
    return Harness.Sample(figures)
  }

  private func figures(of child: Companion, _ saver: Saver) throws -> Harness.Sample {
    let told = try child.nextFigures()
    guard let told, child.finish().ending == .done else { throw CompanionFailure(saver.contender) }
    return told.sample
  }

  // MARK: One save after the other, by two processes in turns

  private func handOver(_ saver: Saver) -> Entrant {
    Entrant(
      .handOver,
      saver.contender,
      settings: saver.settings,
      comparedWith: saver == .sqlite ? nil : .init(.handOver, .sqlite),
      targets: saver == .sqlite ? [] : [Target(.p50Microseconds, .atMost(25))]
    ) {
      try withFolder(plan, "hand-over") { folder in
        try make(saver, folder, .relaxed)
        let children = try (0..<2).map { _ in try start(.answer(saver, folder)) }
        for child in children { _ = child.readLine() }
        var histogram = LatencyHistogram()
        let count = plan.choose(quick: 1_000, full: 10_000)
        // The first of each make the rows that later ones find.
        for number in -100..<count {
          let child = children[number & 1]
          try child.write("save")
          guard let answer = child.readLine().flatMap({ UInt64($0) }) else {
            throw CompanionFailure(saver.contender)
          }
          if number >= 0 { histogram.record(answer) }
        }
        for child in children { _ = child.finish() }
        return Harness.Sample([:], histogram: histogram)
      }
    }
  }

  // MARK: From a save to another process

  private func delay(
    _ workload: Workload,
    _ role: @escaping (URL, _ until: UInt64) -> Role
  ) -> Entrant {
    Entrant(
      workload,
      .models,
      settings: "\(Saver.together.settings), every 20 ms",
      targets: [
        Target(.p50Microseconds, .atMost(5_000)), Target(.p99Microseconds, .atMost(16_000)),
      ]
    ) {
      try withFolder(plan, "delay") { folder in
        try make(.together, folder, .relaxed)
        let from = monotonicNanoseconds() + 500_000_000
        let until = from + UInt64(seconds * 3e9)
        let listener = try start(role(folder, until))
        let saver = try start(
          .save(.together, folder, .relaxed, from: from, until: until, pause: 20_000)
        )
        _ = try figures(of: saver, .together)
        let delays = listener.finish().lines.compactMap { UInt64($0) }
        guard !delays.isEmpty else { throw CompanionFailure(.models) }
        return Harness.Sample([:], histogram: LatencyHistogram(delays))
      }
    }
  }

  private func make(_ saver: Saver, _ folder: URL, _ durability: Harness.Durability) throws {
    _ = try saver.open(folder, durability)
  }

  private func start(_ role: Role) throws -> Companion { try Companion(role.arguments) }
}
