/// The plan by which a question to a context was answered: the worker, the data read, and the time of each step.
///
/// ``ModelContext/explain(_:)-(FetchDescriptor<T>)`` returns one; printing it shows
///
///     fetch Trip where destination == "Oslo" && delay > 60, sorted by name, limit 20
///       Trip        index of destination: 312 of 1,000,000 rows; read 312 (24.1 kB), 57 matched
///       context     made 20 objects
///       time        plan 0.02 ms, read 0.41 ms, sort 0.01 ms, objects 0.02 ms; 0.48 ms in all
///       result      20
public struct QueryPlan: Sendable, Hashable {
  /// The kind of result requested.
  public enum Question: String, Sendable, Hashable {
    /// Models.
    case fetch
    /// The number of models that match.
    case count
    /// The identifiers of models.
    case identifiers
    /// Figures, of all models or of groups.
    case aggregate
    /// The values of some properties.
    case columns
    /// Models by the words of their texts, the best first.
    case search
  }

  /// The kind of result requested.
  public let question: Question
  /// The class in question.
  public let entity: String
  /// The predicate as a store sees it; `nil` if there was none.
  public let predicate: String?
  /// The sort keys, the most important one first.
  public let sort: [String]
  /// The maximum number of results; `nil` without a limit.
  public let limit: Int?
  /// The number of results that were skipped; `nil` without an offset.
  public let offset: Int?
  /// The type of the store that was asked.
  public let store: String
  /// The worker that tested the predicate; `nil` without a predicate.
  public internal(set) var filteredBy: Worker?
  /// The worker that sorted; `nil` without a sort.
  public internal(set) var sortedBy: Worker?
  /// The access to each table, if the store reports it: a `LogStore` and a `PostgresStore` do, and other
  /// stores do not.
  public internal(set) var accesses: [TableAccess] = []
  /// Number of rows or snapshots that the store returned to the context.
  public internal(set) var handedOverCount: Int?
  /// Number of objects made for rows.
  public internal(set) var objectCount = 0
  /// Number of models, values, groups or identifiers returned; of a count, the number itself.
  public internal(set) var resultCount: Int?
  /// The steps with their durations, in the order of the first time.
  public internal(set) var steps: [Step] = []
  /// The total duration.
  public internal(set) var duration = Duration.zero

  /// The part of the system that does a step.
  public enum Worker: String, Sendable, Hashable {
    /// The store, from rows, columns or an index.
    case store
    /// The context, which makes an object of every row for it.
    case context
  }

  /// A step of the work, with its duration.
  public struct Step: Sendable, Hashable {
    /// The kind of work.
    public let kind: Kind
    /// The duration of the step.
    public internal(set) var duration: Duration

    /// The kinds of work.
    public enum Kind: String, Sendable, Hashable {
      /// Choosing an access path; an index that is made for the first time is part of it.
      case plan
      /// Reading and testing rows or columns.
      case read
      /// Sorting rows in the store.
      case sort
      /// Waiting for a store that does not report its work.
      case ask
      /// Making objects for rows.
      case objects
      /// Testing the predicate on objects.
      case filterObjects = "filter objects"
      /// Sorting objects.
      case sortObjects = "sort objects"
    }
  }
}

extension QueryPlan {
  /// The access path and the reads for the rows of one table.
  public struct TableAccess: Sendable, Hashable {
    /// The class whose rows the table has.
    public let entity: String
    /// The access path.
    public let path: Path
    /// Number of rows in the table; for a server, the number it found.
    public let rowCount: Int
    /// Number of rows named by an index or the predicate; `nil` if all rows were examined.
    public let candidateCount: Int?
    /// Number of rows read whole.
    public let readRowCount: Int
    /// Number of bytes of the rows read whole.
    public let readRowByteCount: Int
    /// Number of rows examined by columns.
    public let columnRowCount: Int
    /// Blocks of packed rows whose columns were read.
    public let blockCount: Int
    /// Blocks of packed rows excluded by their bounds.
    public let prunedBlockCount: Int
    /// Number of stored bytes of the columns that were read.
    public let columnByteCount: Int
    /// Number of matching rows among those examined.
    public let matchCount: Int

    /// A way to rows.
    public enum Path: Sendable, Hashable {
      /// The predicate names the rows by their identifiers.
      case identifiers
      /// The rows that refer to others through a relationship.
      case references(String)
      /// The rows that have certain members in a list; the members were found first.
      case members(String)
      /// An index of properties names the rows that can match.
      case index([String])
      /// Each of these paths names rows, any of which can match.
      case either([Path])
      /// An index in the order of the sort is walked until there are enough rows.
      case indexOrder([String])
      /// The words of texts in some properties name the rows that can match.
      case words([String])
      /// Columns tell which rows can match.
      case columns([String])
      /// The columns of the predicate and of the first sort key tell which rows are among the first.
      case firstByColumns([String])
      /// Each row is read.
      case scan
      /// A server found the rows that match, and no others.
      case server
      /// A server found rows that can match, by the part of the predicate it understands; each was then tested here.
      case serverThenRows
      /// The table's number of rows.
      case rowCount
      /// The predicate lets no row of the class match.
      case nothing
    }

    package init(
      entity: String,
      path: Path,
      rowCount: Int,
      candidateCount: Int? = nil,
      readRowCount: Int = 0,
      readRowByteCount: Int = 0,
      columnRowCount: Int = 0,
      blockCount: Int = 0,
      prunedBlockCount: Int = 0,
      columnByteCount: Int = 0,
      matchCount: Int = 0
    ) {
      self.entity = entity
      self.path = path
      self.rowCount = rowCount
      self.candidateCount = candidateCount
      self.readRowCount = readRowCount
      self.readRowByteCount = readRowByteCount
      self.columnRowCount = columnRowCount
      self.blockCount = blockCount
      self.prunedBlockCount = prunedBlockCount
      self.columnByteCount = columnByteCount
      self.matchCount = matchCount
    }
  }
}

extension QueryPlan {
  /// Makes a plan that has only the question.
  init(
    question: Question,
    entity: String,
    predicate: String?,
    sort: [String],
    limit: Int?,
    offset: Int?,
    store: String
  ) {
    self.question = question
    self.entity = entity
    self.predicate = predicate
    self.sort = sort
    self.limit = limit
    self.offset = offset
    self.store = store
    filteredBy = predicate == nil ? nil : .store
    sortedBy = sort.isEmpty ? nil : .store
  }
}
