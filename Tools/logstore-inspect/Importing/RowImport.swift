import LogEngine
import RowFormat
import Terminal

/// Reads rows of one entity out of a file, and writes them.
///
/// Everything is read and checked before the first row is written, so that a file with an error changes nothing.
struct RowImport {
  /// The format of the file.
  enum Format { case csv, ndjson }

  fileprivate struct Column {
    let definition: ColumnDefinition
    /// The type of its numbers; any that a column keeps, if the store does not say.
    let numbers: NumberType?
    /// Its place in rows.
    let place: Int
    /// The place of the row's rank in a list, for a reference to the list's owner.
    let rankPlace: Int?
    /// Whether the app computes its values, whatever the file says.
    let isComputed: Bool
    /// The rows that its references may lead to; any, if the store does not say.
    let targets: ReferenceTargets?
    /// The name of the column that has the other end of a one-to-one; `nil` if it is no end of one.
    let otherEnd: String?
  }

  /// What there is in a file.
  struct Contents: Equatable {
    var rowCount = 0
    /// The columns that the app computes, whatever the file says of them.
    var computedColumns: [String] = []
  }

  private let bytes: [UInt8]
  private let format: Format
  private let table: TableDefinition
  private let layout: LayoutDefinition
  private let store: InspectedStore
  private let derived: DerivedColumns

  init(
    _ bytes: [UInt8],
    _ format: Format,
    into table: TableDefinition,
    of store: InspectedStore
  ) throws(ToolError) {
    guard let layout = table.layout(table.currentLayout) else {
      throw ToolError(
        "\(table.name) has no columns that rows could be written with",
        place: store.path
      )
    }
    self.bytes = bytes
    self.format = format
    self.table = table
    self.layout = layout
    derived = DerivedColumns(of: table, layout, in: store)
    self.store = store
  }

  /// Hands over the bytes of each row.
  ///
  /// - Parameters:
  ///   - rank: Makes the place of a row in a list.
  ///   - body: Takes a row, the number of the line that it begins in, and the ends in rows of the store that have to lead to it.
  /// - Returns: The number of rows, and what is passed over in them.
  /// - Throws: ``ImportError``, or what `body` throws.
  func forEachRow(
    rank: () -> Int64,
    _ body: (RawSpan, Int, [OtherEnd]) throws -> Void
  ) throws -> Contents {
    var writer = RowWriter()
    var contents = Contents()
    // The lines that name them.
    var ends: [OtherEnd: Int] = [:]
    func write(_ fields: [(column: Column, field: ImportField)], line: Int) throws {
      try encode(fields, into: &writer, rank)
      let range = writer.finish()
      let named = try otherEnds(of: fields, &ends)
      try body(writer.bytes.extracting(range), line, named)
      writer.removeAll()
      contents.rowCount += 1
    }
    switch format {
    case .csv:
      var scanner = CSVScanner(bytes)
      guard let header = try scanner.next() else { return contents }
      let columns = try header.map { try column(named: $0.text ?? "", $0.place) }
      try checkDifferent(zip(columns, header).map { ($0, $1) })
      contents.note(columns.compactMap(\.self))
      try checkComplete(columns.compactMap(\.self), header[0].place)
      while let fields = try scanner.next() {
        guard fields.count == columns.count else {
          throw ImportError(
            fields[min(fields.count - 1, columns.count)].place,
            in: bytes,
            expected: columns.count.counted("field") + ", as the header has",
            found: fields.count.counted("field")
          )
        }
        try write(
          zip(columns, fields).compactMap { column, field in column.map { ($0, field) } },
          line: fields[0].place.line
        )
      }
    case .ndjson:
      var scanner = JSONScanner(bytes)
      var known: [String: Column?] = [:]
      while let (start, members) = try scanner.next() {
        var fields: [(column: Column, field: ImportField)] = []
        for (name, field) in members {
          let found: Column?
          if let column = known[name] {
            found = column
          } else {
            found = try column(named: name, field.place)
            known[name] = found
            if let found { contents.note([found]) }
          }
          if let found { fields.append((found, field)) }
        }
        try checkDifferent(fields.map { ($0, $1) })
        try checkComplete(fields.map(\.column), members.first?.field.place ?? start)
        try write(fields, line: start.line)
      }
    }
    return contents
  }

  // MARK: Columns

  /// The column of a name; `nil` for the key, which is assigned anew.
  private func column(
    named name: String,
    _ place: ImportField.Place
  ) throws(ImportError) -> Column? {
    if table.isKeyName(name) { return nil }
    guard let definition = table.column(named: name),
      let position = layout.columns.firstIndex(of: definition.number), store.isShown(definition)
    else {
      let names = store.columns(of: table).map(\.name)
      throw ImportError(
        place,
        in: bytes,
        expected: "a column of \(table.name): \(names.joined(separator: ", "))",
        found: name.isEmpty ? "nothing" : name,
        advice: NearestName.of(name, among: names).map { "\($0)?" }
          ?? (name.contains { ";\t|".contains($0) } ? "fields stand between commas" : nil)
      )
    }
    let rank = table.column(named: "_rank_" + name).flatMap {
      layout.columns.firstIndex(of: $0.number)
    }
    return Column(
      definition: definition,
      numbers: store.numberType(of: definition, in: table.number),
      place: position,
      rankPlace: rank,
      isComputed: derived.isComputed(definition),
      targets: store.targets(of: definition, in: table.number),
      otherEnd: store.otherEnd(of: definition, in: table.number)
    )
  }

  /// Checks that no column comes twice: a row has room for one value of each.
  private func checkDifferent(
    _ columns: [(column: Column?, field: ImportField)]
  ) throws(ImportError) {
    for (index, (column, field)) in columns.enumerated() {
      guard let column, columns[..<index].contains(where: { $0.column?.place == column.place })
      else { continue }
      throw ImportError(
        field.place,
        in: bytes,
        column: column.definition.name,
        expected: "each column once",
        found: column.definition.name
      )
    }
  }

  private func checkComplete(
    _ columns: [Column],
    _ place: ImportField.Place
  ) throws(ImportError) {
    let names = Set(columns.map(\.definition.number))
    for definition in store.columns(of: table)
    where !definition.isNullable && !names.contains(definition.number)
      && definition.type != .references && !derived.contains(definition)
    {
      throw ImportError(
        place,
        in: bytes,
        column: definition.name,
        expected: "a value: each \(table.name) has one",
        found: "no such column"
      )
    }
  }

  // MARK: Values

  private func encode(
    _ fields: [(column: Column, field: ImportField)],
    into writer: inout RowWriter,
    _ rank: () -> Int64
  ) throws(ImportError) {
    writer.begin(layout.layout, as: derived.template.span.bytes)
    // Values of variable width have to come in the order of their columns.
    for (column, field) in fields.sorted(by: { $0.column.place < $1.column.place }) {
      if column.isComputed { continue }
      guard let text = field.text else {
        if derived.contains(column.definition) { continue }
        if column.definition.isNullable || column.definition.type == .references { continue }
        throw error(field, column, "a value: each \(table.name) has one", "null")
      }
      try encode(text, field, column, into: &writer)
      if let rankPlace = column.rankPlace { writer.set(rankPlace, integer: rank()) }
    }
  }

  private func encode(
    _ text: String,
    _ field: ImportField,
    _ column: Column,
    into writer: inout RowWriter
  ) throws(ImportError) {
    let place = column.place
    switch column.definition.type {
    case .structured, .references: break
    case .blob where field.nested != nil || text.hasPrefix("{\"blob\""):
      // As an export names it.
      throw error(
        field,
        column,
        "bytes in hexadecimal",
        String(text.prefix(40)),
        advice:
          "an export does not hold values that are in files of their own: leave the column out, and let the app set them"
      )
    case _ where field.nested != nil:
      throw error(
        field,
        column,
        "a text, a number, true, false or null",
        String(text.prefix(40)),
        advice: "\(column.definition.name) has no lists and objects"
      )
    case .integer, .double, .bool: break
    default:
      // A number is no text, and its digits are no bytes: the author of the file meant another column.
      if field.isLiteral { throw error(field, column, "a text between quotes", text) }
    }
    switch column.definition.type {
    case .integer:
      let type = column.numbers ?? .signed(bitWidth: 64)
      guard let value = type.integer(text) else {
        throw error(field, column, "an integer \(type.integerExtent)", text)
      }
      writer.set(place, integer: value)
    case .double:
      let type = column.numbers ?? .double
      guard let value = type.double(text) else {
        throw error(field, column, "a number \(type.doubleExtent)", text)
      }
      writer.set(place, double: value)
    case .bool:
      switch text.lowercased() {
      case "true", "1", "yes": writer.set(place, bool: true)
      case "false", "0", "no": writer.set(place, bool: false)
      default: throw error(field, column, "true or false", text)
      }
    case .date:
      guard let value = Timestamp(text) else {
        throw error(field, column, "a date such as 2024-02-29 or 2024-02-29T12:00:00Z", text)
      }
      writer.set(place, double: value.seconds)
    case .uuid:
      guard case .uuid(let low, let high) = Datum(uuid: text) else {
        throw error(field, column, "a UUID", text)
      }
      writer.set(place, uuid: (low, high))
    case .text: writer.append(place, text: text)
    case .reference:
      guard let reference = store.reference(named: text) else {
        throw error(field, column, "a row such as Trip/17", text)
      }
      if let targets = column.targets, !targets.contains(reference) {
        throw error(
          field,
          column,
          "a row of \(targets.entities.joined(separator: " or "))",
          text,
          advice: "\(column.definition.name) leads to rows of that entity alone"
        )
      }
      guard (try? store.view.contains(reference)) ?? false else {
        throw error(
          field,
          column,
          "a row that exists",
          text,
          advice: column.otherEnd.map {
            "leave the column out, and import the other rows with \($0) after these: that sets both ends"
          }
        )
      }
      writer.set(place, reference: reference)
    case .bytes:
      guard let value = [UInt8](hexadecimal: text) else {
        throw error(field, column, "bytes in hexadecimal", text)
      }
      writer.append(place, bytes: value.span.bytes)
    case .blob:
      guard let value = [UInt8](hexadecimal: text) else {
        throw error(field, column, "bytes in hexadecimal", text)
      }
      writer.append(place, inlineBlob: value.span.bytes)
    case .structured:
      var bytes: [UInt8] = []
      try compositeValue(text, field, column).writeStructured(to: &bytes)
      writer.append(place, bytes: bytes.span.bytes)
    case .references:
      // The other end of the relationship may have to agree, or does already.
      guard text == "[]" else {
        throw error(
          field,
          column,
          "an empty list: what a list holds cannot be imported",
          String(text.prefix(40)),
          advice: "leave the column out"
        )
      }
      writer.append(place, references: [])
    }
  }

  /// The ends that rows of the store get for the one-to-one relationships of a row.
  ///
  /// - Parameters:
  ///   - fields: The row's fields.
  ///   - ends: Those of earlier rows, by the lines that name them.
  /// - Returns: The ends.
  /// - Throws: ``ImportError`` if one has a partner already, or is named twice.
  private func otherEnds(
    of fields: [(column: Column, field: ImportField)],
    _ ends: inout [OtherEnd: Int]
  ) throws(ImportError) -> [OtherEnd] {
    var named: [OtherEnd] = []
    for (column, field) in fields {
      guard let name = column.otherEnd, let text = field.text,
        let row = store.reference(named: text),
        let inverse = store.catalogue.table(row.table)?.column(named: name),
        inverse.type == .reference
      else { continue }
      let end = OtherEnd(row: row, column: inverse.number)
      let relationship = "\(column.definition.name) and \(name) are one to one"
      if let line = ends.updateValue(field.place.line, forKey: end) {
        throw error(
          field,
          column,
          "a row that no other row of the file names: \(relationship)",
          "\(text), which line \(line) names"
        )
      }
      switch (try? end.availability(in: store)) ?? .unwritable {
      case .free: named.append(end)
      case .taken(let partner):
        throw error(
          field,
          column,
          "a row whose \(name) is nil: \(relationship)",
          "\(text), whose \(name) is \(store.name(of: partner))"
        )
      case .unwritable:
        throw error(
          field,
          column,
          "a row that has had \(name) since it was saved last: \(relationship)",
          text,
          advice: "have the app save that row once"
        )
      }
    }
    return named
  }

  /// The value of JSON that a field contains.
  ///
  /// CSV has quotes around every text that needs them, whatever it means: a list or an object begins with its bracket, and
  /// a text that is a number or a truth value is taken for one. A `Decimal` reads numbers too, if none of their digits is lost.
  private func compositeValue(
    _ text: String,
    _ field: ImportField,
    _ column: Column
  ) throws(ImportError) -> JSONValue {
    if let nested = field.nested { return nested }
    if format == .ndjson {
      return (field.isLiteral ? JSONValue(literal: text) : nil) ?? .string(text)
    }
    if text.hasPrefix("[") || text.hasPrefix("{") {
      if let value = JSONScanner.value(of: text) { return value }
      throw error(field, column, "a list or an object of JSON", String(text.prefix(40)))
    }
    let value = JSONValue(literal: text) ?? .null
    return value != .null && value.text == text ? value : .string(text)
  }

  private func error(
    _ field: ImportField,
    _ column: Column,
    _ expected: String,
    _ found: String,
    advice: String? = nil
  ) -> ImportError {
    ImportError(
      field.place,
      in: bytes,
      column: column.definition.name,
      expected: expected,
      found: found.isEmpty ? "an empty text" : found,
      advice: advice
    )
  }
}

extension RowImport.Contents {
  /// Notes those of some columns that the app computes.
  fileprivate mutating func note(_ columns: [RowImport.Column]) {
    computedColumns += columns.filter(\.isComputed).map(\.definition.name)
  }
}

extension [UInt8] {
  /// Bytes from two hexadecimal digits each; `nil` if there is anything else.
  init?(hexadecimal text: String) {
    self = []
    reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for byte in text.utf8 {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      if let first = high {
        append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    if high != nil { return nil }
  }
}
