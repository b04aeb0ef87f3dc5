import Foundation
import Harness
import SwiftData

#if SQLITE
import SQLitePeer
#endif

@Model
final class Visit {
  var place: String
  var rating: Int

  init(place: String, rating: Int) {
    self.place = place
    self.rating = rating
  }
}

/// The contenders whose stores are opened.
enum TenantContender {
  static var all: [(contender: Contender, settings: String)] {
    var all: [(Contender, String)] = [
      (.models, "a ModelContainer each on LogStore, .relaxed, one model saved")
    ]
    #if SQLITE
    all.append((.sqlite, "\(SQLiteDatabase.settings); one row"))
    #endif
    return all
  }

  /// Opens a contender's stores in this process and passes on their figures.
  ///
  /// - Parameters:
  ///   - contender: The contender whose stores are opened.
  ///   - counts: The numbers of open stores at which figures are taken, rising.
  ///   - folder: The folder of the stores.
  /// - Throws: What a store throws.
  static func measure(_ contender: Contender, _ counts: [Int], in folder: URL) throws {
    raiseDescriptorLimit()
    switch contender {
    case .models:
      try measure(
        Tenants(folder, open: openModels) { container, number in
          let found = try ModelContext(container).fetch(FetchDescriptor<Visit>()).map(\.rating)
          try WrongAnswer.check(found.reduce(0, +), is: number, .models)
        },
        counts
      )
    #if SQLITE
    case .sqlite:
      try measure(
        Tenants(folder, open: openSQLite) { database, number in
          let statement = try database.statement("SELECT rating FROM visit")
          var found = 0
          try statement.run { found += $0.integer(0) }
          try WrongAnswer.check(found, is: number, .sqlite)
        },
        counts
      )
    #endif
    default: throw WrongAnswer(contender, expected: 1, found: 0)
    }
  }

  private static func measure<Store>(_ empty: Tenants<Store>, _ counts: [Int]) throws {
    var tenants = empty
    var before = Footprint.current()
    for count in counts {
      let opened = count - tenants.stores.count
      let histogram = try tenants.open(upTo: count)
      let busy = Footprint.current()
      // Idle threads end after some seconds.
      let idle = Footprint.settled()
      try tenants.checkSome()
      var figures = idle.figures(since: before, stores: opened)
      figures[.threadsAtMost] = Double(busy.threads)
      figures[.diskBytesPerStore] = Double(tenants.diskByteCount()) / Double(count)
      guard let workload = Workload(rawValue: "stores-\(count)") else { continue }
      try Companion.tell(workload, Sample(figures, histogram: histogram))
      before = idle
    }
  }

  private static func openModels(_ place: URL, _ number: Int) throws -> ModelContainer {
    let container = try ModelContainer(
      for: Visit.self,
      configurations: LogStoreConfiguration(url: place, durability: .relaxed)
    )
    let context = ModelContext(container)
    context.insert(Visit(place: "place \(number)", rating: number))
    try context.save()
    return container
  }

  #if SQLITE
  private static func openSQLite(_ place: URL, _ number: Int) throws -> SQLiteDatabase {
    let database = try SQLiteDatabase(
      place,
      schema:
        "CREATE TABLE visit (id INTEGER PRIMARY KEY, place TEXT NOT NULL, rating INTEGER NOT NULL)"
    )
    try database.execute("INSERT INTO visit (place, rating) VALUES ('place \(number)', \(number))")
    return database
  }
  #endif

  /// Ten thousand stores need some ten thousands of descriptors; a privileged process raises the shell's limit.
  private static func raiseDescriptorLimit() {
    var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
    if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 { return }
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
