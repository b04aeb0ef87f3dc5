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
    case .processStart: "from the start of a process to its first row"
    case .openCrash: "from a killed writer's store to the first row"
    case .fetchAll: "objects with all attributes read"
    case .fetchTwo: "objects with two attributes read"
    case .jsonSave: "save of one change among 100,000 objects"
    case .size: "on disk, loaded and closed"
    case .sizeUpdated: "on disk after random updates, one to four rows"
    case .sizeCompacted: "on disk, compacted by what the contender offers itself"
    case .flightsSizeCompacted: "real flights on disk, compacted"
    case .packedScan: "count by two attributes of rows that are packed"
    case .packedTop100: "the 100 packed rows with the least of an attribute"
    case .packedFetchAll: "objects of packed rows with all attributes read"
    case .packedRead: "random rows of a pack, from its file"
    case .packedReadCached: "random rows of a pack, from the cache"
    case .readAlone: "random rows by key, nobody else about"
    case .readBesideWriter: "random rows by key, a thread updates meanwhile"
    case .blobWrite: "values of 1 KB to 4 MB beside their rows"
    case .blobUpdate: "half of them written anew, with another length"
    case .blobRead: "all that are left"
    case .blobDelete: "a third of them"
    case .blobSize: "after updates and deletions"
    case .blobSizeCompacted: "after updates and deletions, compacted"
    case .durableUpdate1: "one attribute of 1 random row a commit, on disk at return"
    case .durableUpdate100: "one attribute of 100 random rows a commit, on disk at return"
    case .flightsImport: "real flights, 1,000 a save"
    case .flightsSize: "real flights on disk, loaded and closed"
    case .flightsLate: "count of late flights from an airport"
    case .flightsDelays: "mean delay of each carrier"
    case .nextPage, .packedNextPage: "50 rows from a moment on, by an index"
    case .nextPageDescending, .packedNextPageDescending: "50 rows before a moment, by an index"
    case .newestOfDevice, .packedNewestOfDevice: "the newest 50 rows of one device before a moment"
    case .countOfDevice, .packedCountOfDevice: "count of one device's rows in some hours"
    case .offsetPage, .packedOffsetPage: "50 rows at a place of an indexed order"
    case .findOrCreate: "rows looked up by a unique key and made where missing, one commit"
    case .pendingFetch: "one object by a unique key, 10,000 unsaved beside it"
    case .noPendingFetch: "one object by a unique key, nothing unsaved"
    case .indexFirstUse: "the first question by an index, after the rows were saved"
    case .indexAfterStart, .packedIndexAfterStart, .indexAfterKill:
      "from a closed store to the first page by an index"
    case .semiJoin, .packedSemiJoin: "count by an attribute of the other end of a to-one"
    case .memberJoin, .packedMemberJoin: "count by an attribute of the members of a to-many"
    case .traverse100000, .packedTraverse100000: "100,000 objects, each with its to-one"
    case .moveChildren: "all children of one parent moved to another, one commit"
    case .nullify: "a parent deleted, its children kept"
    case .textFirstSearch: "the first search for a word, after the rows were saved"
    case .documentFirstSearch: "the same in texts of 20 KB"
    case .textWord: "the ten best for a word that one text in a million has"
    case .textTwoWords: "the ten best for two words that some thousandths of the texts have"
    case .textContains: "count of short texts that contain a part of a word, whatever the case"
    case .documentContains: "the same in texts of 20 KB"
    case .textInsert: "10,000 texts saved, and a word searched"
    case .delaysByCarrierAndHour, .packedDelaysByCarrierAndHour:
      "mean delay of each carrier at each hour"
    case .worstRoutes, .packedWorstRoutes:
      "the ten routes with the greatest mean delay"
    case .planesByHours, .packedPlanesByHours:
      "the ten planes longest in the air"
    case .cancellationsByWeek, .packedCancellationsByWeek:
      "cancelled flights of each week"
    case .longestChain, .packedLongestChain:
      "most flights of a plane, each within a day of the one before"
    case .busiestHours, .packedBusiestHours:
      "the hour at which most flights leave each airport"
    case .delayPercentiles, .packedDelayPercentiles:
      "three percentiles of the delays of each carrier"
    case .lateShareByMonth, .packedLateShareByMonth:
      "share of late flights in each month"
    case .milesByManufacturer, .packedMilesByManufacturer:
      "miles by the manufacturer of a related plane"
    case .bestWeekday, .packedBestWeekday:
      "the day of the week with the least mean delay"
    case .groupBy, .packedGroupBy, .groupByBesideUpdates:
      "rows and a sum for each of 100 texts"
    case .sum, .packedSum, .sumBesideUpdates: "the sum of a column"
    case .topK, .packedTopK, .topKBesideUpdates: "the ten greatest values, without an index"
    case .percentile, .packedPercentile, .percentileBesideUpdates:
      "the median and the 99th percentile of a column"
    case .cascade: "a parent deleted with its children"
    default: nil
    }
  }
}
