/// How a question to a context was answered: who did what, what was read, and how long each step took.
///
/// ``ModelContext/explain(_:)-(FetchDescriptor<T>)`` makes one; printing it shows
///
///     fetch Trip where destination == "Oslo" && delay > 60, sorted by name, limit 20
///       Trip        index of destination: 312 of 1,000,000 rows; read 312 (24.1 kB), 57 matched
///       context     made 20 objects
///       time        plan 0.02 ms, read 0.41 ms, sort 0.01 ms, objects 0.02 ms; 0.48 ms in all
///       result      20
public struct QueryPlan: Sendable, Hashable {
  /// What was asked for.
  public enum Question: String, Sendable, Hashable {
    /// Models.
    case fetch
    /// How many models match.
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

  /// What was asked for.
  public let question: Question
  /// The class that was asked about.
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
  /// Who tested the predicate; `nil` without a predicate.
  public internal(set) var filteredBy: Worker?
  /// Who sorted; `nil` without a sort.
  public internal(set) var sortedBy: Worker?
  /// How each table was read, where the store reports it: a `LogStore` and a `PostgresStore` do, and other
  /// stores do not.
  public internal(set) var accesses: [TableAccess] = []
  /// How many rows or snapshots the store handed to the context.
  public internal(set) var handedOverCount: Int?
  /// How many objects were made for rows.
  public internal(set) var objectCount = 0
  /// How many models, values, groups or identifiers were returned; of a count, the number itself.
  public internal(set) var resultCount: Int?
  /// What was done and for how long, in the order of the first time.
  public internal(set) var steps: [Step] = []
  /// How long all of it took.
  public internal(set) var duration = Duration.zero

  /// Who does a part of the work.
  public enum Worker: String, Sendable, Hashable {
    /// The store, from rows, columns or an index.
    case store
    /// The context, which makes an object of every row for it.
    case context
  }

  /// A part of the work, and how long it took.
  public struct Step: Sendable, Hashable {
    /// What was done.
    public let kind: Kind
    /// How long it took.
    public internal(set) var duration: Duration

    /// The kinds of work.
    public enum Kind: String, Sendable, Hashable {
      /// Choosing an access path; an index that is made for the first time is part of it.
      case plan
      /// Reading and testing rows or columns.
      case read
      /// Sorting rows in the store.
      case sort
      /// Waiting for a store that does not report what it does.
      case ask
      /// Making objects of rows.
      case objects
      /// Testing the predicate on objects.
      case filterObjects = "filter objects"
      /// Sorting objects.
      case sortObjects = "sort objects"
    }
  }
}

extension QueryPlan {
  /// How the rows of one table were found and read.
  public struct TableAccess: Sendable, Hashable {
    /// The class whose rows the table has.
    public let entity: String
    /// How the rows were found.
    public let path: Path
    /// How many rows the table has; where a server was asked, how many it found.
    public let rowCount: Int
    /// How many rows an index or the predicate named; `nil` where all rows were examined.
    public let candidateCount: Int?
    /// How many rows were read whole.
    public let readRowCount: Int
    /// How many bytes the rows read whole have.
    public let readRowByteCount: Int
    /// How many rows were examined by columns.
    public let columnRowCount: Int
    /// Blocks of packed rows whose columns were read.
    public let blockCount: Int
    /// Blocks of packed rows that their bounds left out.
    public let prunedBlockCount: Int
    /// How many bytes of columns were read, as they are stored.
    public let columnByteCount: Int
    /// How many rows matched, of those that were examined.
    public let matchCount: Int

    /// A way to rows.
    public enum Path: Sendable, Hashable {
      /// The predicate names the rows by their identifiers.
      case identifiers
      /// The rows that refer to others through a relationship.
      case references(String)
      /// The rows that have certain members in a list; the members were looked for first.
      case members(String)
      /// An index of properties names the rows that can match.
      case index([String])
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
      /// A server found rows that can match, by what it understands of the predicate; each was then tested here.
      case serverThenRows
      /// The table knows how many rows it has.
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
  /// A plan of which only the question is known.
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
