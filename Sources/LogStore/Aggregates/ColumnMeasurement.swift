import LogEngine
import ModelRuntime
import RowFormat

/// Measures the rows of one table by columns, without reading the rows.
///
/// Rows come in batches of some hundreds or thousands. In each batch the matching rows are found, then the number of each
/// row's group, then each measure reads its column: loops over numbers, with everything known beforehand hoisted out.
struct ColumnMeasurement {
  private let request: AggregateRequest
  private let table: EntityTable
  private let plan: ColumnPlan
  private let columns: MeasuredColumns
  private var encoders: [KeyEncoder]
  /// Numbers the pairs of a group of the first keys and a value of the next one.
  private var pairs: [CodeTable]
  private var pairValues: [[(first: Int32, second: Int32)]]
  private var distinct: [DistinctValues?]
  private let accumulators: [Accumulator]
  /// The memory that the measurement may take.
  var allowance: AggregateAllowance
  /// Number of groups so far, or of different values counted in one measure if that is larger.
  var groupCount: Int { max(count, distinct.map { $0?.count ?? 0 }.max() ?? 0) }
  private var count = 0
  private var groups: [Int32] = []
  private var codes: [Int32] = []

  /// - Returns: `nil` if the columns do not tell which rows match, or what is measured.
  init?(
    _ request: AggregateRequest,
    _ table: EntityTable,
    _ plan: ColumnPlan,
    _ resolver: StoreResolver,
    within allowance: AggregateAllowance
  ) {
    guard plan.isExact else { return nil }
    guard let columns = MeasuredColumns(request.sources, of: table, beside: plan, resolver) else {
      return nil
    }
    let sources = columns.sources
    for measure in request.measures {
      if let order = measure.order {
        if !sources[order].isPlain { return nil }
        continue
      }
      guard let value = measure.value, measure.function != .distinct else { continue }
      // Columns count the values of an enumeration that its type has; a row that is referred to may have none.
      if measure.function == .count ? sources[value].related != nil : !sources[value].isPlain {
        return nil
      }
    }
    self.request = request
    self.table = table
    self.allowance = allowance
    self.plan = plan
    self.columns = columns
    encoders = zip(sources, request.keys).map { KeyEncoder($0, $1.bucket) }
    pairs = request.keys.dropFirst().map { _ in CodeTable() }
    pairValues = pairs.map { _ in [] }
    distinct = request.measures.map { measure in
      guard measure.function == .distinct, let value = measure.value else { return nil }
      return DistinctValues(sources[value])
    }
    accumulators = request.measures.map { .make($0) }
    if request.keys.isEmpty { grow(to: 1) }
  }

  /// Measures rows of a view, except for some; adds to what was measured before.
  ///
  /// - Parameters:
  ///   - view: The state to look at.
  ///   - keys: The keys of the rows; all, if `nil`.
  ///   - excluded: Keys of rows that do not count.
  ///   - tally: Counts what is read.
  /// - Throws: ``StorageError`` for what is damaged, or `SwiftDataError.aggregateTooLarge`.
  mutating func run(
    _ view: ReadView,
    in keys: Range<UInt64>? = nil,
    excluding excluded: ExcludedRows.Keys,
    _ tally: TableTally?
  ) throws {
    let (plan, table, more) = (plan, table, columns.more)
    tally?.choose(.columns(tally?.names(of: plan.columns + more) ?? []))
    try plan.scan(table, with: more, in: keys, of: view, tally?.columns) { batch, rows in
      var rows = rows
      if !excluded.isEmpty {
        let all = rows
        try all.forEach { row in
          let key = try batch.key(of: row)
          if excluded.contains(key) { rows.drop(row) }
        }
      }
      if rows.isEmpty { return }
      tally?.match(rows.selectedCount)
      try group(rows, of: batch)
      for index in request.measures.indices { try measure(index, rows, of: batch) }
      try allowance.check(byteCount, groupCount: count)
    }
    try columns.checkRelatedValues()
  }

  /// The approximate memory, in bytes, of the measurement and of the table of groups that it is added to.
  private var byteCount: Int {
    var sum = count * GroupTable.byteCount(ofKeyWith: encoders.count)
    for encoder in encoders { sum += encoder.byteCount }
    for (table, values) in zip(pairs, pairValues) {
      sum += table.byteCount + values.count * MemoryLayout<(Int32, Int32)>.stride
    }
    for accumulator in accumulators { sum += accumulator.byteCount * 2 }
    for values in distinct { sum += values?.byteCount ?? 0 }
    return sum
  }

  /// Adds what was found to a table of groups.
  func add(to result: GroupTable) {
    for (measure, values) in distinct.enumerated() {
      values?.add(to: accumulators[measure])
    }
    let isFirst = result.count == 0
    for group in 0..<count {
      let key = key(of: group)
      let target = isFirst ? result.append(key) : result.findOrAppendGroup(of: key)
      for (index, accumulator) in accumulators.enumerated() {
        result.accumulators[index].add(accumulator, group, to: target)
      }
    }
  }
}

// MARK: Groups

extension ColumnMeasurement {
  private mutating func grow(to count: Int) {
    self.count = count
    for accumulator in accumulators { accumulator.grow(to: count) }
  }

  /// Finds the group of each row.
  private mutating func group(_ rows: RowSelection, of batch: borrowing ColumnBatch) throws {
    if encoders.isEmpty { return }
    if groups.count < rows.count {
      groups = Array(repeating: 0, count: rows.count)
      codes = groups
    }
    var (groups, codes) = ([Int32](), [Int32]())
    swap(&groups, &self.groups)
    swap(&codes, &self.codes)
    defer {
      swap(&groups, &self.groups)
      swap(&codes, &self.codes)
    }
    try encode(0, rows, of: batch, into: &groups)
    var count = encoders[0].values.count
    for key in encoders.indices.dropFirst() {
      try encode(key, rows, of: batch, into: &codes)
      var (table, known) = (CodeTable(), [(first: Int32, second: Int32)]())
      swap(&table, &pairs[key - 1])
      swap(&known, &pairValues[key - 1])
      rows.forEach { row in
        let pair = Int64(groups[row]) << 32 | Int64(codes[row])
        groups[row] = table.code(of: pair) { pair in
          known.append((Int32(pair >> 32), Int32(truncatingIfNeeded: pair)))
          return Int32(known.count - 1)
        }
      }
      count = known.count
      swap(&table, &pairs[key - 1])
      swap(&known, &pairValues[key - 1])
    }
    if count > self.count { grow(to: count) }
  }

  private mutating func encode(
    _ key: Int,
    _ rows: RowSelection,
    of batch: borrowing ColumnBatch,
    into result: inout [Int32]
  ) throws {
    let column = try PresentValues(rows, of: batch, at: columns.positions[key])
    if let present = column.present {
      encoders[key].encode(present.rows, of: present.vector, into: &result)
    }
    if column.isComplete { return }
    // A value has a number only if a row has it: of one key, each number is a group.
    if !column.nulls.isEmpty {
      let null = encoders[key].code(of: columns.sources[key].ifNull)
      column.nulls.forEach { result[$0] = null }
    }
    if column.lacking.isEmpty { return }
    let lacking = encoders[key].code(of: columns.sources[key].ifLacking)
    column.lacking.forEach { result[$0] = lacking }
  }

  private func key(of group: Int) -> [KeyValue] {
    if encoders.isEmpty { return [] }
    var key: [KeyValue] = []
    var number = Int32(group)
    for index in encoders.indices.dropFirst().reversed() {
      let pair = pairValues[index - 1][Int(number)]
      key.append(encoders[index].values[Int(pair.second)])
      number = pair.first
    }
    key.append(encoders[0].values[Int(number)])
    return key.reversed()
  }
}

// MARK: Measures

extension ColumnMeasurement {
  private mutating func measure(
    _ index: Int,
    _ rows: RowSelection,
    of batch: borrowing ColumnBatch
  ) throws {
    let groups = encoders.isEmpty ? nil : groups
    let accumulator = accumulators[index]
    guard let value = request.measures[index].value else {
      (accumulator as? CountAccumulator)?.add(rows, in: groups)
      return
    }
    let source = columns.sources[value]
    if let order = request.measures[index].order {
      return try choose(accumulator, source, columns.positions[value], by: order, rows, of: batch)
    }
    let column = try PresentValues(rows, of: batch, at: columns.positions[value])
    if let present = column.present {
      if distinct[index] != nil {
        distinct[index]?.add(present.rows, of: present.vector, in: groups)
      } else {
        accumulator.add(present.rows, of: present.vector, source, in: groups)
      }
    }
    if column.isComplete { return }
    for (rows, value) in [(column.nulls, source.ifNull), (column.lacking, source.ifLacking)]
    where value != .null {
      rows.forEach { row in
        let group = Int(groups?[row] ?? 0)
        if distinct[index] == nil {
          accumulator.add(value, to: group)
        } else {
          distinct[index]?.add(value, to: group)
        }
      }
    }
  }
}

extension ColumnMeasurement {
  /// Offers the rows, one after the other, to a measure of the value that one row has.
  private func choose(
    _ accumulator: Accumulator,
    _ source: MeasuredColumn,
    _ position: Int,
    by order: Int,
    _ rows: RowSelection,
    of batch: borrowing ColumnBatch
  ) throws {
    guard let accumulator = accumulator as? ChosenValueAccumulator else { return }
    let column = try PresentValues(rows, of: batch, at: position)
    let deciding = try PresentValues(rows, of: batch, at: columns.positions[order])
    let groups = encoders.isEmpty ? nil : groups
    try rows.forEach { row in
      let order = deciding.value(at: row, columns.sources[order])
      let group = Int(groups?[row] ?? 0)
      // Most rows are worse: their values need not be made.
      if order == .null || accumulator.standing(of: order, in: group) == .worse { return }
      let reference = RowReference(table: table.number, key: try batch.key(of: row))
      let value = column.value(at: row, source)
      accumulator.add(value, by: order, at: reference.rawValue, to: group)
    }
  }
}

/// The rows of a selection by what they have in a column.
struct PresentValues {
  private let vector: ColumnVector
  private var values: RowSelection
  /// Those in which the column is null, and those that do not have it.
  private(set) var nulls = RowSelection()
  private(set) var lacking = RowSelection()
  /// Whether all have values.
  let isComplete: Bool

  init(_ rows: RowSelection, of batch: borrowing ColumnBatch, at position: Int) throws {
    vector = try batch.column(position)
    values = rows
    isComplete = vector.nullCount == 0
    if isComplete { return }
    vector.keepValues(in: &values)
    nulls = rows
    nulls.subtract(values)
    lacking = nulls
    if batch.isLacking(position) {
      batch.keepLacking(position, in: &lacking)
      nulls.subtract(lacking)
    } else {
      lacking.removeAll()
    }
  }
}

extension PresentValues {
  /// The rows that have values, and the column; `nil` if none has.
  ///
  /// A block of a pack whose rows are all null, or do not have the column, has no values of any form that could be asked for.
  var present: (rows: RowSelection, vector: ColumnVector)? {
    values.isEmpty ? nil : (values, vector)
  }

  /// The value that a column reads as in one of the rows.
  func value(at row: Int, _ source: MeasuredColumn) -> QueryValue {
    if isComplete || values.contains(row) { return source.value(at: row, of: vector) }
    return !lacking.isEmpty && lacking.contains(row) ? source.ifLacking : source.ifNull
  }
}

/// The different values of a property in each group.
struct DistinctValues {
  private var encoder: KeyEncoder
  private var codes: [Int32] = []
  /// Groups and numbers of values, as pairs.
  private var known = CodeTable()
  private var pairs: [(group: Int32, code: Int32)] = []

  /// Number of values in all groups.
  var count: Int { pairs.count }

  /// The approximate memory, in bytes, of the values and of the sets they become.
  var byteCount: Int {
    encoder.byteCount + known.byteCount
      + pairs.count * (MemoryLayout<(Int32, Int32)>.stride + DistinctAccumulator.valueByteCount)
  }

  init(_ source: MeasuredColumn) { encoder = KeyEncoder(source, nil) }

  mutating func add(_ rows: RowSelection, of vector: ColumnVector, in groups: [Int32]?) {
    if codes.count < rows.count { codes = Array(repeating: 0, count: rows.count) }
    encoder.encode(rows, of: vector, into: &codes)
    rows.forEach { row in record(groups?[row] ?? 0, codes[row]) }
  }

  mutating func add(_ value: QueryValue, to group: Int) {
    record(Int32(group), encoder.code(of: value))
  }

  private mutating func record(_ group: Int32, _ code: Int32) {
    let count = pairs.count
    let number = known.code(of: Int64(group) << 32 | Int64(code)) { _ in Int32(count) }
    if Int(number) == count { pairs.append((group, code)) }
  }

  /// Adds the values to an accumulator that has none.
  func add(to accumulator: Accumulator) {
    guard let accumulator = accumulator as? DistinctAccumulator else { return }
    for pair in pairs {
      let value = encoder.values[Int(pair.code)]
      if !value.value.isNull { accumulator.append(value, to: Int(pair.group)) }
    }
  }
}
