import Foundation
import Harness
#if SQLITE
import SQLitePeer
#endif

runGroup("Service") { plan, report in
  #if !SQLITE
  report.note("SQLite takes no part: libsqlite3-dev is not installed")
  #endif
  let rows = plan.choose(quick: 100_000, full: 1_000_000)
  try withFolder(plan, "service") { folder in
    let place = { (name: String) in folder.appending(path: name) }
    let uses = FirstUses(plan: plan, rows: rows)
    do {
      let models = try ModelService(place("log"))
      try models.fill(rows)
      var stores: [any ServiceStore] = [models]
      #if SQLITE
      let sqlite = try SQLiteService(place("readings.sqlite"))
      try sqlite.fill(rows)
      stores.append(sqlite)
      #endif
      report.add(try uses.afterFilling(stores))
      for store in stores { _ = try store.nextPage(from: ReadingRecord(number: 0).at, limit: 50) }
      let killed = KilledStores(in: folder, count: FirstUses.startCount)
      // Those of state and of at.
      killed.waitForIndexes(2, of: "log")
      try killed.copy(["log", "readings.sqlite", "readings.sqlite-wal"])
      var openings: [FirstUses.Opening] = [
        (
          .models, "LogStore, of a process that was killed",
          { try ModelService(killed.next("log")) }
        )
      ]
      #if SQLITE
      openings.append(
        (
          .sqlite, SQLiteDatabase.settings,
          { try SQLiteService(killed.next("readings.sqlite")) }
        )
      )
      #endif
      report.add(try uses.afterStart(.indexAfterKill, openings))
    }
    try FileManager.default.copyItem(at: place("log"), to: place("packed"))
    try ModelService.pack(place("packed"))

    let openLog: FirstUses.Opening = (
      .models, "LogStore, rows in the log", { try ModelService(place("log")) }
    )
    let openPacked: FirstUses.Opening = (
      .models, "LogStore, rows packed", { try ModelService(place("packed"), state: "rows packed") }
    )
    var peers: [FirstUses.Opening] = []
    #if SQLITE
    peers.append(
      (.sqlite, SQLiteDatabase.settings, { try SQLiteService(place("readings.sqlite")) })
    )
    #endif
    report.add(try uses.afterStart(.indexAfterStart, [openLog] + peers))
    report.add(try uses.afterStart(.packedIndexAfterStart, [openPacked] + peers))

    let log = try ([openLog] + peers).map { try $0.open() }
    try ServiceQuestions(plan: plan, rows: rows).run(report, log: log, packed: openPacked.open())
    let imports = Imports(plan: plan)
    report.add(try imports.findOrCreate(log))
    report.add(try imports.pendingFetch(ModelService(place("pending"))))
  }
}
