import LogEngine
import RowFormat
import Terminal

/// A question about the rows of one entity, bound to its columns.
struct RowQuery {
  /// The question as it was written.
  struct Text {
    var condition: String?
    var columns: String?
    var groups: String?
    var sort: String?
    var limit: Int?
    var offset = 0
    /// The place of the parts, for errors.
    var source = Source.options
  }

  /// A part of a question that is a text of its own.
  enum Clause: String, CaseIterable {
    case condition = "where"
    case columns
    case groups = "group by"
    case sort

    fileprivate var option: String { "--" + rawValue.replacing(" ", with: "-") }
  }

  /// The place where the parts of a question were written.
  enum Source {
    /// Each is the value of an option.
    case options
    /// All are in one line, each from a certain character on.
    case line(String, [Clause: Int])

    /// The name of a part where it was written.
    func name(of clause: Clause) -> String {
      switch self {
      case .options: clause.option
      case .line: clause.rawValue
      }
    }

    /// The error, with its place in the written text.
    fileprivate func toolError(_ error: WhereError, in clause: Clause) -> ToolError {
      guard case .line(let line, let starts) = self else {
        return error.toolError(in: name(of: clause))
      }
      let error = WhereError(
        text: line,
        position: error.position + starts[clause, default: 0],
        expected: error.expected,
        found: error.found,
        advice: error.advice
      )
      return error.toolError(in: name(of: clause))
    }
  }

  /// One column of the result.
  struct Output {
    let item: SelectItem
    /// The number of the column that is read; `nil` for `count` alone.
    let column: Int?
    var name: String { item.name }
  }

  let table: TableDefinition
  private(set) var reader: ColumnReader
  let condition: BoundCondition?
  let outputs: [Output]
  /// The columns that rows are grouped by; `nil` if rows themselves are shown.
  let groups: [Int]?
  /// Numbers of columns, or of outputs if rows are grouped.
  let sort: [(number: Int, isDescending: Bool)]
  let limit: Int
  let offset: Int

  /// Binds a question to the columns of a table.
  ///
  /// - Throws: ``ToolError`` that shows the place in the text.
  init(_ text: Text, of table: TableDefinition, in store: InspectedStore) throws(ToolError) {
    self.table = table
    var reader = ColumnReader(table, of: store)
    let source = text.source
    condition = try source.reading(.condition, text.condition) { text throws(WhereError) in
      try ConditionBinder.bind(text, &reader, table, in: store)
    }
    let groupItems = try source.reading(.groups, text.groups) { text throws(WhereError) in
      try Self.columnsOnly(SelectParser.items(text), text, "a column to group by")
    }
    var items = try source.reading(.columns, text.columns) { text throws(WhereError) in
      try SelectParser.items(text)
    }
    let isGrouped = groupItems != nil || items?.contains { $0.function != nil } ?? false
    if let groupItems, items == nil {
      items = groupItems + [.count]
    }
    let selected: [SelectItem] =
      items ?? store.askableNames(of: table).map { .column($0) }
    func bind(_ items: [SelectItem], _ text: String) throws(WhereError) -> [Output] {
      var outputs: [Output] = []
      for item in items {
        outputs.append(try Self.output(item, text, &reader, table, store))
      }
      return outputs
    }
    let grouped =
      try source.reading(.groups, text.groups ?? "") { text throws(WhereError) -> [Output] in
        let outputs = try bind(groupItems ?? [], text)
        for output in outputs where reader.kind(of: output.column ?? 0) == .opaque {
          throw Self.incomparable(output.item, text)
        }
        return outputs
      } ?? []
    let shown =
      try source.reading(.columns, text.columns ?? "") { text throws(WhereError) in
        try bind(selected, text)
      } ?? []
    let groupColumns = isGrouped ? grouped.compactMap(\.column) : nil
    if let groupColumns {
      let odd = shown.first { $0.item.function == nil && !groupColumns.contains($0.column ?? -1) }
      if let odd {
        throw ToolError(
          "rows of a group have no one \(odd.name)",
          expected: "a column of \(source.name(of: .groups)), or a figure such as min(\(odd.name))",
          found: odd.name
        )
      }
    }
    var sort: [(number: Int, isDescending: Bool)] = []
    if let keys = try source.reading(
      .sort,
      text.sort,
      { text throws(WhereError) in
        try SelectParser.sortKeys(text)
      }
    ) {
      for key in keys {
        let number = try source.reading(.sort, text.sort ?? "") { text throws(WhereError) in
          try Self.sortNumber(key, text, shown, isGrouped, &reader, table, store)
        }
        sort.append((number ?? 0, key.isDescending))
      }
    }
    outputs = shown
    groups = groupColumns
    self.sort = sort
    limit = text.limit ?? .max
    offset = text.offset
    self.reader = reader
  }

  private static func columnsOnly(
    _ items: [SelectItem],
    _ text: String,
    _ expected: String
  ) throws(WhereError) -> [SelectItem] {
    for item in items where item.function != nil {
      throw WhereError(
        text: text,
        position: item.token.position,
        expected: expected,
        found: item.name
      )
    }
    return items
  }

  private static func output(
    _ item: SelectItem,
    _ text: String,
    _ reader: inout ColumnReader,
    _ table: TableDefinition,
    _ store: InspectedStore
  ) throws(WhereError) -> Output {
    guard let name = item.column else { return Output(item: item, column: nil) }
    guard let number = reader.number(ofColumn: name) else {
      let names = store.askableNames(of: table)
      throw WhereError(
        text: text,
        position: item.token.position,
        expected: "a column of \(table.name): \(names.joined(separator: ", "))",
        found: name.printable,
        advice: NearestName.of(name, among: names).map { "\($0)?" }
      )
    }
    switch item.function {
    case .sum, .avg:
      guard reader.kind(of: number) == .number else {
        throw WhereError(
          text: text,
          position: item.token.position,
          expected: "a column of numbers",
          found: "\(name), which has none"
        )
      }
    case .min, .max, .distinct:
      guard reader.kind(of: number) != .opaque else { throw incomparable(item, text) }
    case .count, nil: break
    }
    return Output(item: item, column: number)
  }

  private static func incomparable(_ item: SelectItem, _ text: String) -> WhereError {
    WhereError(
      text: text,
      position: item.token.position,
      expected: "a column whose values can be compared",
      found: "\(item.column ?? item.name), whose values cannot"
    )
  }

  private static func sortNumber(
    _ key: SelectItem.SortKey,
    _ text: String,
    _ shown: [Output],
    _ isGrouped: Bool,
    _ reader: inout ColumnReader,
    _ table: TableDefinition,
    _ store: InspectedStore
  ) throws(WhereError) -> Int {
    if isGrouped {
      if let place = shown.firstIndex(where: { $0.name == key.item.name }) { return place }
      throw WhereError(
        text: text,
        position: key.item.token.position,
        expected: "one of what is shown: \(shown.map(\.name).joined(separator: ", "))",
        found: key.item.name
      )
    }
    let output = try output(key.item, text, &reader, table, store)
    guard let number = output.column, key.item.function == nil, reader.kind(of: number) != .opaque
    else {
      throw WhereError(
        text: text,
        position: key.item.token.position,
        expected: "a column whose values have an order",
        found: key.item.name
      )
    }
    return number
  }
}

extension RowQuery.Source {
  fileprivate func reading<Value>(
    _ clause: RowQuery.Clause,
    _ text: String?,
    _ body: (String) throws(WhereError) -> Value
  ) throws(ToolError) -> Value? {
    guard let text else { return nil }
    do throws(WhereError) {
      return try body(text)
    } catch {
      throw toolError(error, in: clause)
    }
  }
}

extension SelectItem {
  fileprivate static func column(_ name: String) -> SelectItem {
    SelectItem(
      function: nil,
      column: name,
      token: WhereToken(kind: .name(name), position: 0, source: name)
    )
  }

  fileprivate static var count: SelectItem {
    SelectItem(
      function: .count,
      column: nil,
      token: WhereToken(kind: .name("count"), position: 0, source: "count")
    )
  }
}
