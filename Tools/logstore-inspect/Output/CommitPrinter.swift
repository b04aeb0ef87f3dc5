import LogEngine
import RowFormat
import Terminal

/// Prints commits one after the other: their authors, times and changes.
struct CommitPrinter {
  /// The detail in which a commit is printed.
  enum Detail {
    /// A line with counts.
    case counts
    /// Each change, with the columns it wrote.
    case changes
  }

  /// A filter for the changes that are printed; commits without any are skipped.
  struct Filter {
    var table: UInt16?
    var keys: NumberRange?
    var author: String?

    var isOpen: Bool { table == nil && keys == nil }

    func includes(_ reference: RowReference) -> Bool {
      if isOpen { return true }
      if let table, reference.table != table { return false }
      return keys?.contains(reference.key) ?? true
    }
  }

  static let fields = ["commit", "time", "author", "bytes", "segment", "offset", "changes"]
  static let changeFields = ["commit", "time", "author", "change", "entity", "key", "columns"]

  private let console: Console
  private var store: InspectedStore
  private let format: OutputFormat
  private let detail: Detail
  private let filter: Filter
  private var items: ItemPrinter
  private var decoder: RowDecoder
  private var names: CatalogueNames?

  init(
    _ store: InspectedStore,
    _ format: OutputFormat,
    _ detail: Detail,
    _ filter: Filter = Filter(),
    _ console: Console
  ) {
    self.console = console
    self.store = store
    self.format = format
    self.detail = detail
    self.filter = filter
    decoder = RowDecoder(of: store)
    items = ItemPrinter(
      console,
      format,
      fields: detail == .counts ? Self.fields : Self.changeFields
    )
  }

  /// Continues with another look at the same store.
  mutating func move(to store: InspectedStore) {
    self.store = store
    decoder = RowDecoder(of: store)
  }

  mutating func print(_ commit: LoggedCommit) throws {
    if names == nil {
      // The names of tables before a commit in the middle are not known; today's are near enough.
      let isFirst = commit.sequence.rawValue == 1
      names = isFirst ? CatalogueNames() : CatalogueNames(store.catalogue)
    }
    if let author = filter.author, commit.author != author { return }
    var tally = ChangeTally()
    var lines: [String] = []
    var changes: [JSONValue] = []
    try commit.forEachChange { change in
      guard filter.includes(change.reference), isShown(change) else { return .proceed }
      tally.add(change)
      // Names of columns may be others from here on.
      if case .catalogue = change.kind { decoder = RowDecoder(of: store) }
      guard detail == .changes else { return .proceed }
      let detail = try ChangeDetail(change, &decoder)
      if format == .text {
        lines += text(of: change, detail)
      } else {
        changes.append(item(of: change, detail))
      }
      return .proceed
    }
    if tally.isEmpty && !filter.isOpen { return }
    switch (format, detail) {
    case (.text, _):
      console.clippedLine(heading(of: commit, tally))
      lines.forEach { console.clippedLine($0) }
    case (.csv, .changes):
      for change in changes { items.print(flat(change, of: commit)) }
    default: items.print(item(of: commit, tally, changes))
    }
  }

  func end() { items.end() }

  private func isShown(_ change: LoggedChange) -> Bool {
    if case .catalogue = change.kind { return filter.isOpen }
    guard let table = store.catalogue.table(change.reference.table) else { return true }
    return store.isShown(table)
  }
}

// MARK: Text

extension CommitPrinter {
  private func heading(of commit: LoggedCommit, _ tally: ChangeTally) -> String {
    let author = commit.author.map { "  by " + $0.printable } ?? ""
    let number = console.styled("commit \(commit.sequence.rawValue)", .yellow)
    let time = Timestamp(microseconds: commit.microseconds)
    let counts = tally.text(store.name(ofTable:))
    return "\(number)  \(time)\(author)  \(commit.byteCount.byteCount)  \(counts)"
  }

  private mutating func words(for change: CatalogueChange) -> String {
    names?.words(for: change) ?? "\(change)"
  }

  private mutating func text(of change: LoggedChange, _ detail: ChangeDetail) -> [String] {
    if case .catalogue(let changes) = change.kind {
      return changes.map { "  schema  " + words(for: $0) }
    }
    let style: Style =
      switch change.kind {
      case .insert: .green
      case .delete: .red
      default: .cyan
      }
    let word = console.styled(change.kind.word, style)
    return ["  \(word)  \(store.name(of: change.reference).printable)  \(detail.text)"]
  }
}

// MARK: Items

extension CommitPrinter {
  private func item(
    of commit: LoggedCommit,
    _ tally: ChangeTally,
    _ changes: [JSONValue]
  ) -> JSONValue {
    [
      "commit": .unsigned(commit.sequence.rawValue),
      "time": .string("\(Timestamp(microseconds: commit.microseconds))"),
      "author": commit.author.map(JSONValue.string) ?? .null,
      "bytes": .integer(Int64(commit.byteCount)),
      "segment": .unsigned(UInt64(commit.segment.rawValue)),
      "offset": .integer(Int64(commit.offset)),
      "changes": detail == .counts ? tally.json(store.name(ofTable:)) : .array(changes),
    ]
  }

  private mutating func item(of change: LoggedChange, _ detail: ChangeDetail) -> JSONValue {
    if case .catalogue(let changes) = change.kind {
      return [
        "change": "schema", "steps": .array(changes.map { .string(words(for: $0)) }),
      ]
    }
    return [
      "change": .string(change.kind.word),
      "entity": .string(store.name(ofTable: change.reference.table)),
      "key": .unsigned(change.reference.key), "columns": detail.json,
    ]
  }

  /// A change with its commit, for formats without nesting.
  private func flat(_ change: JSONValue, of commit: LoggedCommit) -> JSONValue {
    [
      "commit": .unsigned(commit.sequence.rawValue),
      "time": .string("\(Timestamp(microseconds: commit.microseconds))"),
      "author": commit.author.map(JSONValue.string) ?? .null,
      "change": change["change"] ?? .null, "entity": change["entity"] ?? .null,
      "key": change["key"] ?? .null, "columns": change["columns"] ?? change["steps"] ?? .null,
    ]
  }
}
