/// The workloads; the raw values are stable, for comparison with stored results.
public enum Workload: String, Sendable, CaseIterable {
  // Rows as plain bytes in blocks: copied, handed to the kernel, compressed, decompressed.
  case memcpy
  case pwrite
  case lz4Compress = "lz4-compress"
  case lz4Decompress = "lz4-decompress"
  // Commits of so many rows, on disk at return.
  case durable1 = "durable-1"
  case durable10 = "durable-10"
  case durable100 = "durable-100"
  case durable10000 = "durable-10000"
  // The same from so many threads.
  case durable1Threads4 = "durable-1-threads-4"
  case durable1Threads8 = "durable-1-threads-8"
  case durable1Threads16 = "durable-1-threads-16"
  // Commits that survive the end of the process, and perhaps not a power cut.
  case relaxed1 = "relaxed-1"
  case relaxed100 = "relaxed-100"
  case relaxed10000 = "relaxed-10000"
  // One attribute, read, modified and written, of 1,000,000 rows.
  case update1 = "update-1"
  case update100 = "update-100"
  // Random keys of 1,000,000 rows: all attributes, or one of fixed width.
  case pointRead = "point-read"
  case pointReadColumn = "point-read-column"
  /// A count by two attributes, by looking at each of 1,000,000 rows.
  case scan
  /// The same, answered through an index.
  case scanIndexed = "scan-indexed"
  // The 100 rows that start first: by looking at each, and through an index.
  case top100 = "top-100"
  case top100Indexed = "top-100-indexed"
  // Flights of New York: taken in, 1,000 a save; what they take on disk; counted by two attributes; their
  // delays added up by carrier.
  case flightsImport = "flights-import"
  case flightsSize = "flights-size"
  case flightsLate = "flights-late"
  case flightsDelays = "flights-delays"
  // One reader of random keys, alone and beside a writer.
  case readAlone = "read-alone"
  case readBesideWriter = "read-beside-writer"
  case indexMemory = "index-memory"
  case indexLookup = "index-lookup"
  // From nothing to the first row read.
  case openClean = "open-clean"
  case openClean10M = "open-clean-10000000"
  case openCrash = "open-crash"
  case openRebuild = "open-rebuild"
  /// From the start of a process to its first row.
  case processStart = "process-start"
  // 100,000 objects: every attribute, or two.
  case fetchAll = "fetch-all"
  case fetchTwo = "fetch-two"
  case propertyGet = "property-get"
  case propertyGetText = "property-get-text"
  case propertySet = "property-set"
  /// A save of one change in an archive of 100,000.
  case jsonSave = "json-save"
  // One element appended to a to-many of so many.
  case appendTo10 = "append-to-10"
  case appendTo100000 = "append-to-100000"
  case modelMemory = "model-memory"
  // On disk: loaded and closed, after a million updates, and after what the contender offers by itself.
  case size = "size"
  case sizeUpdated = "size-updated"
  /// Rows become a pack.
  case compaction
  // On disk, packed: trips, and flights of New York's airports.
  case sizeCompacted = "size-compacted"
  case flightsSizeCompacted = "flights-size-compacted"
  // Random rows of a pack: from its file, or from the cache.
  case packedRead = "packed-read"
  case packedReadCached = "packed-read-cached"
  /// A count by two attributes of all rows of a pack.
  case packedScan = "packed-scan"
  // The 100 packed rows that start first; 100,000 objects of packed rows.
  case packedTop100 = "packed-top-100"
  case packedFetchAll = "packed-fetch-all"
  // Commits that replace ten rows, drawn evenly: without compaction, and beside it.
  case overwrite
  case overwriteCompacting = "overwrite-compacting"
  // Values of 1 KB to 4 MB beside rows: written, written anew, deleted, and what is left of them.
  case blobWrite = "blob-write"
  case blobUpdate = "blob-update"
  case blobDelete = "blob-delete"
  case blobRead = "blob-read"
  case blobSize = "blob-size"
  case blobSizeCompacted = "blob-size-compacted"
  // Commits that raise one attribute of so many rows, on disk at return.
  case durableUpdate1 = "durable-update-1"
  case durableUpdate100 = "durable-update-100"
  // A whole life at several sizes; the number of rows follows in results.
  case scaleInsert = "scale-insert"
  case scaleRead = "scale-read"
  case scaleScan = "scale-scan"
  case scaleOpen = "scale-open"
  case scaleSize = "scale-size"
  case scaleMemory = "scale-memory"
  // Ten million models: loaded; counted, sorted and fetched from the log; compacted; opened again; counted,
  // sorted and fetched from packs; every one of them read, and every file.
  case modelsLoad = "models-load"
  case modelsCount = "models-count"
  case modelsTop100 = "models-top-100"
  case modelsFetch = "models-fetch"
  case modelsCompact = "models-compact"
  case modelsReopen = "models-reopen"
  case modelsCountPacked = "models-count-packed"
  case modelsTop100Packed = "models-top-100-packed"
  case modelsFetchPacked = "models-fetch-packed"
  case modelsVerify = "models-verify"
  case modelsVerifyFiles = "models-verify-files"
  // The questions of a service: the page from a moment on and before one, the newest of one device, its count
  // in some hours, the page at a place, with an order and without; the readings that meet one of two conditions; two values of
  // each reading of one device in some hours. From the log, and from packs.
  case nextPage = "next-page"
  case nextPageDescending = "next-page-descending"
  case newestOfDevice = "newest-of-device"
  case countOfDevice = "count-of-device"
  case offsetPage = "offset-page"
  case unsortedOffsetPage = "unsorted-offset-page"
  case alternatives = "alternatives"
  case valuesOfDevice = "values-of-device"
  case packedNextPage = "packed-next-page"
  case packedNextPageDescending = "packed-next-page-descending"
  case packedNewestOfDevice = "packed-newest-of-device"
  case packedCountOfDevice = "packed-count-of-device"
  case packedOffsetPage = "packed-offset-page"
  case packedUnsortedOffsetPage = "packed-unsorted-offset-page"
  case packedAlternatives = "packed-alternatives"
  case packedValuesOfDevice = "packed-values-of-device"
  // An import that looks for what it is about to make; fetches beside 10,000 unsaved models, and beside none.
  case findOrCreate = "find-or-create"
  case pendingFetch = "pending-fetch"
  case noPendingFetch = "no-pending-fetch"
  // The first question that needs an index: after the rows were saved, and from a closed store.
  case indexFirstUse = "index-first-use"
  case indexAfterStart = "index-after-start"
  case packedIndexAfterStart = "packed-index-after-start"
  case indexAfterKill = "index-after-kill"
  // A count across a relationship; 100,000 to-ones; the children of one parent moved, kept and deleted.
  case semiJoin = "semi-join"
  case packedSemiJoin = "packed-semi-join"
  case memberJoin = "member-join"
  case packedMemberJoin = "packed-member-join"
  case traverse100000 = "traverse-100000"
  case packedTraverse100000 = "packed-traverse-100000"
  // The number of children follows in results, if it is not the greatest.
  case moveChildren = "move-children"
  case nullify
  case cascade
  // As many parents with a child each, deleted at once.
  case nullifyEach = "nullify-each"
  case cascadeEach = "cascade-each"
  // Words in short texts, and parts of words in short and in long ones.
  case textFirstSearch = "text-first-search"
  case documentFirstSearch = "document-first-search"
  case textWord = "text-word"
  case textTwoWords = "text-two-words"
  case textContains = "text-contains"
  case documentContains = "document-contains"
  case textInsert = "text-insert"
  // Ten questions about flights, in the log and packed.
  case delaysByCarrierAndHour = "delays-by-carrier-and-hour"
  case worstRoutes = "worst-routes"
  case planesByHours = "planes-by-hours"
  case cancellationsByWeek = "cancellations-by-week"
  case longestChain = "longest-chain"
  case busiestHours = "busiest-hours"
  case delayPercentiles = "delay-percentiles"
  case lateShareByMonth = "late-share-by-month"
  case milesByManufacturer = "miles-by-manufacturer"
  case bestWeekday = "best-weekday"
  case packedDelaysByCarrierAndHour = "packed-delays-by-carrier-and-hour"
  case packedWorstRoutes = "packed-worst-routes"
  case packedPlanesByHours = "packed-planes-by-hours"
  case packedCancellationsByWeek = "packed-cancellations-by-week"
  case packedLongestChain = "packed-longest-chain"
  case packedBusiestHours = "packed-busiest-hours"
  case packedDelayPercentiles = "packed-delay-percentiles"
  case packedLateShareByMonth = "packed-late-share-by-month"
  case packedMilesByManufacturer = "packed-miles-by-manufacturer"
  case packedBestWeekday = "packed-best-weekday"
  case groupBy = "group-by"
  case sum = "sum"
  case topK = "top-k"
  case percentile = "percentile"
  case groupByBesideUpdates = "group-by-beside-updates"
  case sumBesideUpdates = "sum-beside-updates"
  case topKBesideUpdates = "top-k-beside-updates"
  case percentileBesideUpdates = "percentile-beside-updates"
  case packedGroupBy = "packed-group-by"
  case packedSum = "packed-sum"
  case packedTopK = "packed-top-k"
  case packedPercentile = "packed-percentile"
  // YCSB's mixes by several threads; the number of threads follows in results. Zipfian keys, unless they are uniform;
  // commits that survive the end of the process, unless they are on disk at return.
  case ycsbA = "ycsb-a"
  case ycsbB = "ycsb-b"
  case ycsbC = "ycsb-c"
  case ycsbD = "ycsb-d"
  case ycsbE = "ycsb-e"
  case ycsbF = "ycsb-f"
  case ycsbAUniform = "ycsb-a-uniform"
  case ycsbCUniform = "ycsb-c-uniform"
  case ycsbADurable = "ycsb-a-durable"
  case ycsbBDurable = "ycsb-b-durable"
  case ycsbDDurable = "ycsb-d-durable"
  case ycsbFDurable = "ycsb-f-durable"
  case batchInsert = "batch-insert"
  case batchUpdate = "batch-update"
  case batchUpsert = "batch-upsert"
  case batchDelete = "batch-delete"
  // On a PostgreSQL server: saves of so many models; so many fetched; lists of many models, followed one by one.
  case serverSave1 = "server-save-1"
  case serverSave1000 = "server-save-1000"
  case serverFetch10000 = "server-fetch-10000"
  case serverPrefetch = "server-prefetch"
  // A store of several times the memory there is: loaded; rows read and changed; compacted; read, scanned and opened
  // again; every file verified; what it takes on disk, and the memory that all of it took.
  case largerThanMemoryLoad = "larger-than-memory-load"
  case largerThanMemoryUniform = "larger-than-memory-uniform"
  case largerThanMemoryZipfian = "larger-than-memory-zipfian"
  case largerThanMemoryMixed = "larger-than-memory-mixed"
  case largerThanMemoryCompact = "larger-than-memory-compact"
  case largerThanMemoryUniformCompacted = "larger-than-memory-uniform-compacted"
  case largerThanMemoryScan = "larger-than-memory-scan"
  case largerThanMemoryOpen = "larger-than-memory-open"
  case largerThanMemoryVerify = "larger-than-memory-verify"
  case largerThanMemorySize = "larger-than-memory-size"
  case largerThanMemoryPeak = "larger-than-memory-peak"
  /// Commits that replace ten rows, drawn evenly, for minutes.
  case overwriteSteady = "overwrite-steady"
  // Stores that one process has open at once.
  case stores1000 = "stores-1000"
  case stores10000 = "stores-10000"
  // So many processes that save to one store; one that no other may join.
  case writers1 = "writers-1"
  case writers2 = "writers-2"
  case writers4 = "writers-4"
  case writers1Durable = "writers-1-durable"
  case writers2Durable = "writers-2-durable"
  case writers4Durable = "writers-4-durable"
  case writerAlone = "writer-alone"
  case writerAloneDurable = "writer-alone-durable"
  /// Saves by two processes in turns.
  case handOver = "hand-over"
  // From a save to another process that is informed of it, and shows it in a list; and to one that only reads.
  case heardByAnother = "heard-by-another"
  case shownByAnother = "shown-by-another"
  case shownByReader = "shown-by-reader"
}

/// The contenders that are measured.
public enum Contender: String, Sendable, CaseIterable {
  /// The least the machine needs: system calls and `memcpy` alone.
  case floor
  /// Plain classes in memory.
  case classes
  case engine
  case models
  case json
  case sqlite
  /// GRDB with Codable records.
  case grdb
  /// GRDB with records that read and write their columns by hand.
  case grdbByHand = "grdb-by-hand"
  case lmdb
  /// LMDB that writes through its memory map.
  case lmdbWritemap = "lmdb-writemap"
  /// SQLite for one process, its files mapped.
  case sqliteExclusive = "sqlite-exclusive"
  case leveldb
  case rocksdb
  /// SQL by hand, by way of libpq, that does all that the store does.
  case libpq
  /// The same, but for what the store writes down of each save.
  case libpqBare = "libpq-bare"
}

/// The quantity that a figure counts.
public enum Metric: String, Sendable, CaseIterable {
  case rowsPerSecond = "rows_per_second"
  /// The rows that a thread beside the measured one wrote in the same time.
  case writerRowsPerSecond = "writer_rows_per_second"
  case p50Microseconds = "p50_us"
  case p90Microseconds = "p90_us"
  case p99Microseconds = "p99_us"
  case p999Microseconds = "p999_us"
  case maximumMicroseconds = "max_us"
  case milliseconds = "ms"
  case nanosecondsPerRow = "ns_per_row"
  /// Time of the calling thread on a processor: others on the machine cannot inflate it as much.
  case processorNanosecondsPerRow = "cpu_ns_per_row"
  case bytesPerRow = "bytes_per_row"
  /// The bytes that reached the block device, journal and all.
  case deviceBytesPerRow = "device_bytes_per_row"
  case megabytesPerSecond = "mb_per_second"
  /// Bytes of the log, packs and checkpoints for each byte of the log.
  case writeAmplification = "write_amplification"
  /// The most memory that a process of its own had resident, including the files it maps.
  case peakMegabytes = "peak_mb"
  /// The greatest growth of resident memory.
  case peakGrowthMegabytes = "peak_growth_mb"
  /// The bytes on disk for each byte that is live.
  case spaceAmplification = "space_amplification"
  /// The memory a process of its own has resident beside pages of files.
  case anonymousMegabytes = "anonymous_mb"
  /// The number of waits for a server in one operation.
  case roundTrips = "round_trips"
  /// Memory that each open store has resident beside pages of files.
  case bytesPerStore = "bytes_per_store"
  case heapBytesPerStore = "heap_bytes_per_store"
  case diskBytesPerStore = "disk_bytes_per_store"
  case descriptorsPerStore = "descriptors_per_store"
  /// Threads of the process, once it is idle, and at most.
  case threads
  case threadsAtMost = "max_threads"
  /// The ratio of the work of the process that saved least to that of the one that saved most.
  case fairness

  /// The unit, as it is written beside a chart.
  public var unit: String {
    switch self {
    case .rowsPerSecond: "rows/s"
    case .writerRowsPerSecond: "rows/s written meanwhile"
    case .p50Microseconds: "median µs"
    case .p90Microseconds: "90 % µs"
    case .p99Microseconds: "99 % µs"
    case .p999Microseconds: "99.9 % µs"
    case .maximumMicroseconds: "longest µs"
    case .milliseconds: "ms"
    case .nanosecondsPerRow: "ns a row"
    case .processorNanosecondsPerRow: "processor ns a row"
    case .bytesPerRow: "bytes a row"
    case .deviceBytesPerRow: "bytes a row at the device"
    case .megabytesPerSecond: "MB/s"
    case .writeAmplification: "bytes written for a byte"
    case .peakMegabytes: "MB at most, mapped files too"
    case .peakGrowthMegabytes: "MB more at most, mapped files too"
    case .spaceAmplification: "bytes on disk for a live byte"
    case .anonymousMegabytes: "MB of its own"
    case .roundTrips: "round trips"
    case .bytesPerStore: "bytes of memory a store"
    case .heapBytesPerStore: "bytes of heap a store"
    case .diskBytesPerStore: "bytes on disk a store"
    case .descriptorsPerStore: "descriptors a store"
    case .threads: "threads"
    case .threadsAtMost: "threads at most"
    case .fairness: "least share of the greatest"
    }
  }

  /// Whether a greater figure is a better one.
  public var growsWithSpeed: Bool {
    [.rowsPerSecond, .writerRowsPerSecond, .megabytesPerSecond, .fairness].contains(self)
  }
}
