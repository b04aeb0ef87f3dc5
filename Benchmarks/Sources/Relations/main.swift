import Foundation
import Harness

runGroup("Relations") { plan, report in
  #if !SQLITE
  report.note("SQLite takes no part: libsqlite3-dev is not installed")
  #endif
  let visits = plan.choose(quick: 100_000, full: 1_000_000)
  let cities = visits / 100
  try withFolder(plan, "relations") { folder in
    let place = { (name: String) in folder.appending(path: name) }
    do { try ModelRelations(place("log")).fill(cities: cities, visits: visits) }
    try FileManager.default.copyItem(at: place("log"), to: place("packed"))
    try ModelRelations.pack(place("packed"))
    var log: [any RelationStore] = [try ModelRelations(place("log"))]
    #if SQLITE
    let sqlite = try SQLiteRelations(place("visits.sqlite"))
    try sqlite.fill(cities: cities, visits: visits)
    log.append(sqlite)
    #endif
    try RelationQuestions(plan: plan, cities: cities, visits: visits)
      .run(report, log: log, packed: ModelRelations(place("packed"), state: "rows packed"))
  }
}
