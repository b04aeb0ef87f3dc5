/// The setting of a schedule, drawn from its seed before the first step.
struct Setting: Codable, Sendable {
  struct Context: Codable, Sendable {
    /// The container it is made from; all have one store together.
    var container = 0
    var merges = false
    var undoes = false
    var autosaves = false
    /// Whether results of a fetch are observed in it.
    var observes = false
  }

  var onDisk = false
  var containerCount = 1
  var contexts: [Context] = [Context()]
  /// One look at everything in how many steps, on average; 0 for none but the last.
  var lookInterval = 4
  /// One look through a fresh context in how many saves.
  var freshLookInterval = 2
  /// Number of threads: if not 0, the steps of context 0 come first, and each thread has those of another context.
  var threadCount = 0
  /// The seed that decides which thread runs.
  var threadSeed: UInt64 = 0
}

/// Classes of schedules.
enum ScheduleKind: String, CaseIterable, Sendable {
  /// One context at a time, with undo in half of the schedules.
  case alone
  /// Several contexts, none merging.
  case several
  /// Several contexts that merge.
  case merging
  /// Any of those, in two containers.
  case containers
  /// Threads with a context each, which take turns as a seed decides.
  case threads
  /// Several contexts that change rows which others have deleted or changed, and not saved.
  case crossing
  /// Threads over enough rows that fetches follow indexes.
  case crowd

  /// Whether steps are made by threads.
  var hasThreads: Bool { self == .threads || self == .crowd }

  static func of(seed: UInt64) -> ScheduleKind {
    allCases[Int(seed % UInt64(allCases.count))]
  }
}
