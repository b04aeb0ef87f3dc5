#if Metrics
/// The metrics of a store: their labels, which stay as they are from version to version.
///
/// Bytes are bytes, and durations are timers; each has the dimension `store`, and some another.
public enum MetricName: String, CaseIterable, Sendable {
  // MARK: Counters

  /// Commits; that of ``saveDuration`` counts saves of models.
  case commits = "logstore_commits"
  /// Bytes appended to the log.
  case logWrittenBytes = "logstore_log_written_bytes"
  /// Bytes of packs that compaction wrote.
  case packWrittenBytes = "logstore_pack_written_bytes"
  /// Bytes of checkpoints.
  case checkpointWrittenBytes = "logstore_checkpoint_written_bytes"
  /// Synchronizations of the log.
  case synchronizations = "logstore_synchronizations"
  /// Reads of rows of packs that found them in memory.
  case cacheHits = "logstore_cache_hits"
  /// Reads of rows of packs that did not.
  case cacheMisses = "logstore_cache_misses"
  /// Blocks dropped from memory to make room.
  case cacheEvictions = "logstore_cache_evictions"
  /// Bytes of the files that compaction took away.
  case compactionReadBytes = "logstore_compaction_read_bytes"
  /// Events that need a person, by `kind`: `poisoned`, `no_space`, `damage`, `checkpoint`, `compaction`,
  /// `left_behind`, `blob_sweep`, `expiration`.
  case failures = "logstore_failures"
  /// Saves of models that threw.
  case saveFailures = "logstore_save_failures"
  /// Fetches of models that threw.
  case fetchFailures = "logstore_fetch_failures"

  /// Rows that were deleted because they had expired, by `entity`; those that a delete rule took along are counted with
  /// them.
  case expiredRows = "logstore_expired_rows"

  // MARK: Gauges

  /// Bytes of files, by `kind`: `log` and `packs` with each sample; `checkpoints`, `manifests`, `blobs` and
  /// `temporary` when space is sampled.
  case fileBytes = "logstore_file_bytes"
  /// Bytes of records that are needed.
  case liveBytes = "logstore_live_bytes"
  /// Bytes of records that are not, and not history.
  case deadBytes = "logstore_dead_bytes"
  /// Bytes of records that stay for the history.
  case historyBytes = "logstore_history_bytes"
  /// Bytes of files for each that is needed.
  case spaceAmplification = "logstore_space_amplification"
  /// Bytes written for each byte of the log.
  case writeAmplification = "logstore_write_amplification"
  /// The dead bytes that compaction is there to reclaim.
  case compactionDebtBytes = "logstore_compaction_debt_bytes"
  /// The lateness of compaction: at 1, a compaction is due.
  case compactionPressure = "logstore_compaction_pressure"
  /// The speed of the current or the last compaction, in bytes of rows per second.
  case compactionRate = "logstore_compaction_bytes_per_second"
  /// Rows that have expired and that a delete rule keeps for now, by `entity`.
  case keptExpiredRows = "logstore_kept_expired_rows"
  /// Rows, by `table`.
  case rows = "logstore_rows"
  /// The memory of the index, in bytes.
  case indexBytes = "logstore_index_bytes"
  /// The memory of the rows of packs, in bytes.
  case cacheBytes = "logstore_cache_bytes"
  /// Read views there are.
  case views = "logstore_views"
  /// The age of the oldest view, in seconds; 0 without one.
  case oldestViewAge = "logstore_oldest_view_age_seconds"
  /// Bytes of segments that a view keeps from being packed.
  case viewHeldBytes = "logstore_view_held_bytes"
  /// 1 if nothing can be saved until the store is opened anew, otherwise 0.
  case poisoned = "logstore_poisoned"

  // MARK: Timers

  /// Openings.
  case openDuration = "logstore_open_duration"
  /// Checkpoints.
  case checkpointDuration = "logstore_checkpoint_duration"
  /// Compactions that packed something.
  case compactionDuration = "logstore_compaction_duration"
  /// For how long commits waited for the next segment.
  case segmentWaitDuration = "logstore_segment_wait_duration"
  /// Saves of models, from the first change handed to the store to its promise.
  case saveDuration = "logstore_save_duration"
  /// Fetches of models, until their rows are there.
  case fetchDuration = "logstore_fetch_duration"
}
#endif
