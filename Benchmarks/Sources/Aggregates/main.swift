import Foundation
import Harness

extension Question {
  var workload: Workload {
    switch self {
    case .groups: .groupBy
    case .sum: .sum
    case .greatest: .topK
    case .percentiles: .percentile
    }
  }

  var packedWorkload: Workload {
    switch self {
    case .groups: .packedGroupBy
    case .sum: .packedSum
    case .greatest: .packedTopK
    case .percentiles: .packedPercentile
    }
  }

  var beside: Workload {
    switch self {
    case .groups: .groupByBesideUpdates
    case .sum: .sumBesideUpdates
    case .greatest: .topKBesideUpdates
    case .percentiles: .percentileBesideUpdates
    }
  }
}

runGroup("Aggregates") { plan, report in
  #if !SQLITE
  report.note("SQLite takes no part: libsqlite3-dev is not installed")
  #endif
  let count = plan.choose(quick: 500_000, full: 10_000_000)
  try withFolder(plan, "aggregates") { folder in
    let models = try ModelReadings(folder.appending(path: "readings"))
    try models.fill(count)
    #if SQLITE
    let peer: (any ReadingStore)? = try SQLiteReadings(
      folder.appending(path: "readings.sqlite"),
      count
    )
    #else
    let peer: (any ReadingStore)? = nil
    #endif
    let tenth = [Target(.milliseconds, .share, .atMost(0.1))]
    for isPacked in [false, true] {
      if isPacked { try models.pack() }
      let state = isPacked ? "rows packed" : "rows in the log"
      for question in Question.allCases {
        let expected = try (peer ?? models).ask(question)
        let workload = isPacked ? question.packedWorkload : question.workload
        let setup = "a new ModelContext on LogStore, \(state); \(count) readings"
        func entrant(_ contender: Contender, _ settings: String, _ store: any ReadingStore)
          -> Entrant
        {
          Entrant(
            workload,
            contender,
            settings: settings,
            comparedWith: contender == .models && peer != nil ? .init(workload, .sqlite) : nil,
            targets: contender == .models && peer != nil ? tenth : []
          ) {
            try measuringMemory {
              var answer: [String] = []
              let sample = try timeMilliseconds { answer = try store.ask(question) }
              try WrongAnswer.check(answer == expected ? 1 : 0, is: 1, contender)
              return sample
            }
          }
        }
        var entrants = [entrant(.models, setup, models)]
        if let peer { entrants.append(entrant(.sqlite, "no index; \(count) readings", peer)) }
        report.add(try RoundRobin(rounds: plan.choose(quick: 5, full: 7), entrants).run())
        if isPacked { continue }
        let writing = "another thread updates up to 50,000 a second"
        let besides = Entrant(question.beside, .models, settings: "\(setup); \(writing)") {
          let (sample, saved) = try models.updating(50_000) {
            var answer: [String] = []
            let sample = try timeMilliseconds { answer = try models.ask(question) }
            try WrongAnswer.check(answer == expected ? 1 : 0, is: 1, .models)
            return sample
          }
          var result = sample
          if let time = sample.figures[.milliseconds] {
            result.figures[.writerRowsPerSecond] = Double(saved) / time * 1000
          }
          return result
        }
        report.add(try RoundRobin(rounds: plan.choose(quick: 5, full: 7), [besides]).run())
      }
    }
  }
}
