#if Metrics
import LogEngine

/// The counts of an engine; counters publish their growth.
struct EngineTotals {
  var values = [Int](repeating: 0, count: names.count)

  static let names: [MetricName] = [
    .commits, .logWrittenBytes, .packWrittenBytes, .checkpointWrittenBytes, .synchronizations,
    .cacheHits, .cacheMisses, .cacheEvictions,
  ]

  init() {}

  init(_ statistics: EngineStatistics) {
    values = [
      statistics.writing.commitCount, statistics.writing.byteCount,
      statistics.writing.packByteCount, statistics.writing.checkpointByteCount,
      statistics.writing.synchronizationCount, statistics.blockCache.reads.hitCount,
      statistics.blockCache.reads.missCount, statistics.blockCache.evictionCount,
    ]
  }

  /// The growth of each count.
  ///
  /// Two threads that sample at once may come in another order than their figures: growth that was counted already is not
  /// counted again.
  func growth(to later: EngineTotals) -> EngineTotals {
    var growth = self
    for index in values.indices {
      growth.values[index] = max(0, later.values[index] - values[index])
    }
    return growth
  }

  /// The greater of each.
  func grown(to later: EngineTotals) -> EngineTotals {
    var grown = self
    for index in values.indices { grown.values[index] = max(values[index], later.values[index]) }
    return grown
  }
}
#endif
