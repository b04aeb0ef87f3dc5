import Foundation
import Harness
import Workloads

// Flight.swift and FlightQuestion.swift are links to the sources of FlightQuestionTests, which hold the same questions
// to the answers of a program without a database.

runGroup("Questions") { plan, report in
  #if !SQLITE
  report.note("SQLite takes no part: libsqlite3-dev is not installed")
  #endif
  let file = FlightRecord.file
  let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Tests/FlightQuestionTests").standardizedFileURL
  let planes = tests.appending(path: "../../Tools/SampleTrips/Resources/planes.csv")
  let rows = try FlightRows(flights: file, planes: planes)
  let name = file.deletingPathExtension().lastPathComponent
  let answers = try? Answers(tests.appending(path: "Answers/\(name).txt"))
  try withFolder(plan, "questions") { folder in
    let place = { (name: String) in folder.appending(path: name) }
    do { try ModelQuestions(place("log"), "rows in the log").fill(rows) }
    try FileManager.default.copyItem(at: place("log"), to: place("packed"))
    try ModelQuestions.pack(place("packed"))
    var stores: [any QuestionStore] = [try ModelQuestions(place("log"), "rows in the log")]
    #if SQLITE
    stores.append(try SQLiteQuestions(place("flights.sqlite"), rows))
    #endif
    let packed = try ModelQuestions(place("packed"), "rows packed")
    for question in FlightQuestion.allCases {
      let expected = try answers?[question] ?? packed.ask(question)
      for (workload, stores) in [
        (question.workload, stores), (question.packedWorkload, [packed] + stores.dropFirst()),
      ] {
        let entrants = try stores.map { store in
          Entrant(
            workload,
            store.contender,
            settings: "\(try store.settings(question)); \(rows.flights.count) flights",
            comparedWith: store.contender == .models ? .init(workload, .sqlite) : nil
          ) {
            var answer: [String] = []
            let sample = try timeMilliseconds { answer = try store.ask(question) }
            try WrongAnswer.check(answer == expected ? 1 : 0, is: 1, store.contender)
            return sample
          }
        }
        report.add(try RoundRobin(rounds: plan.choose(quick: 5, full: 15), entrants).run())
      }
    }
  }
}
