extension Workload {
  /// What is done, in the few words that fit above a chart; `nil` where the name says it.
  public var meaning: String? {
    switch self {
    case .durable1: "commits of 1 row, on disk at return"
    case .durable10: "commits of 10 rows, on disk at return"
    case .durable100: "commits of 100 rows, on disk at return"
    case .durable10000: "commits of 10,000 rows, on disk at return"
    case .relaxed1: "commits of 1 row, survive a crash of the process"
    case .relaxed100: "commits of 100 rows, survive a crash of the process"
    case .relaxed10000: "commits of 10,000 rows, survive a crash of the process"
    case .update1: "one attribute of 1 random row a commit"
    case .update100: "one attribute of 100 random rows a commit"
    case .pointRead: "random rows by key, all attributes"
    case .pointReadColumn: "random rows by key, one attribute"
    case .scan: "count by two attributes, no index"
    case .scanIndexed: "the same count, with an index on one of the attributes"
    case .top100: "the 100 rows with the least of an attribute, no index"
    case .top100Indexed: "the 100 rows with the least of an indexed attribute"
    case .openClean: "from a closed store to the first row"
    case .openCrash: "from a killed writer's store to the first row"
    case .fetchAll: "objects with all attributes read"
    case .fetchTwo: "objects with two attributes read"
    case .jsonSave: "save of one change among 100,000 objects"
    case .size: "on disk, loaded and closed"
    case .durableUpdate1: "one attribute of 1 random row a commit, on disk at return"
    case .durableUpdate100: "one attribute of 100 random rows a commit, on disk at return"
    case .flightsImport: "real flights, 1,000 a save"
    case .flightsSize: "real flights on disk, loaded and closed"
    case .flightsLate: "count of late flights from an airport"
    case .flightsDelays: "mean delay of each carrier"
    default: nil
    }
  }
}
