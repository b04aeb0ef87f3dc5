import LogEngine
import ModelRuntime
import RowFormat

// Accumulators over whole columns: a loop for each kind, with its numbers in registers if there is only one group.

extension CountAccumulator {
  func add(_ rows: RowSelection, in groups: [Int32]?) {
    guard let groups else { return counts[0] += rows.selectedCount }
    var counts: [Int] = []
    swap(&counts, &self.counts)
    rows.forEach { counts[Int(groups[$0])] += 1 }
    swap(&counts, &self.counts)
  }
}

extension Accumulator {
  /// Adds the values of some rows, all of which have one in the column.
  func add(
    _ rows: RowSelection,
    of vector: ColumnVector,
    _ source: MeasuredColumn,
    in groups: [Int32]?
  ) {
    switch (self, vector.form) {
    case (let counts as CountAccumulator, _):
      var rows = rows
      source.keepValues(in: &rows, of: vector)
      counts.add(rows, in: groups)
    case (let sums as IntegerSumAccumulator, .integers): sums.add(rows, of: vector, in: groups)
    case (let sums as DoubleSumAccumulator, .doubles): sums.add(rows, of: vector, in: groups)
    case (let extremes as IntegerExtremeAccumulator, .integers):
      extremes.add(rows, of: vector, in: groups)
    case (let extremes as DoubleExtremeAccumulator, .doubles):
      let values = vector.doubles
      rows.forEach { extremes.add(values[$0], to: Int(groups?[$0] ?? 0)) }
    case (let moments as MomentAccumulator, .doubles):
      let values = vector.doubles
      rows.forEach { moments.groups[Int(groups?[$0] ?? 0)].add(values[$0]) }
    case (let values as DistributionAccumulator, .doubles):
      let doubles = vector.doubles
      rows.forEach { row in
        if !doubles[row].isNaN { values.groups[Int(groups?[row] ?? 0)].append(doubles[row]) }
      }
      values.valueCount += rows.selectedCount
    case (let values as DistributionAccumulator, .integers):
      let (integers, isSigned) = (vector.integers, values.isSigned)
      rows.forEach { row in
        let value = isSigned ? Double(integers[row]) : Double(UInt64(bitPattern: integers[row]))
        values.groups[Int(groups?[row] ?? 0)].append(value)
      }
      values.valueCount += rows.selectedCount
    case (let extremes as ValueExtremeAccumulator, .codes):
      extremes.addCodes(rows, of: vector, source, in: groups)
    default: rows.forEach { add(source.value(at: $0, of: vector), to: Int(groups?[$0] ?? 0)) }
    }
  }
}

extension IntegerSumAccumulator {
  fileprivate func add(_ rows: RowSelection, of vector: ColumnVector, in groups: [Int32]?) {
    let values = vector.integers
    let isSigned = isSigned
    guard let groups else {
      var sum: Int128 = 0
      var part: Int64 = 0
      rows.forEach { row in
        let value = values[row]
        let (next, overflow) = part.addingReportingOverflow(value)
        // Great unsigned values do not fit a part, either.
        if overflow || !isSigned && value < 0 {
          sum += Int128(part) + (isSigned ? Int128(value) : Int128(UInt64(bitPattern: value)))
          part = 0
        } else {
          part = next
        }
      }
      sums[0] += sum + Int128(part)
      counts[0] += rows.selectedCount
      return
    }
    var (sums, counts) = ([Int128](), [Int]())
    swap(&sums, &self.sums)
    swap(&counts, &self.counts)
    rows.forEach { row in
      let group = Int(groups[row])
      sums[group] &+= isSigned ? Int128(values[row]) : Int128(UInt64(bitPattern: values[row]))
      counts[group] &+= 1
    }
    swap(&sums, &self.sums)
    swap(&counts, &self.counts)
  }
}

extension DoubleSumAccumulator {
  fileprivate func add(_ rows: RowSelection, of vector: ColumnVector, in groups: [Int32]?) {
    let values = vector.doubles
    guard let groups else {
      sums[0].add(values, rows)
      counts[0] += rows.selectedCount
      return
    }
    var (sums, counts) = ([CompensatedSum](), [Int]())
    swap(&sums, &self.sums)
    swap(&counts, &self.counts)
    rows.forEach { row in
      let group = Int(groups[row])
      sums[group].add(values[row])
      counts[group] &+= 1
    }
    swap(&sums, &self.sums)
    swap(&counts, &self.counts)
  }
}

extension IntegerExtremeAccumulator {
  fileprivate func add(_ rows: RowSelection, of vector: ColumnVector, in groups: [Int32]?) {
    let values = vector.integers
    if let groups {
      rows.forEach { add(values[$0], to: Int(groups[$0])) }
    } else if wantsGreatest {
      var extreme = Int64.min
      rows.forEach { extreme = max(extreme, values[$0]) }
      add(extreme, to: 0)
    } else {
      var extreme = Int64.max
      rows.forEach { extreme = min(extreme, values[$0]) }
      add(extreme, to: 0)
    }
  }
}

extension ValueExtremeAccumulator {
  /// Makes a text of each different value of a group once.
  fileprivate func addCodes(
    _ rows: RowSelection,
    of vector: ColumnVector,
    _ source: MeasuredColumn,
    in groups: [Int32]?
  ) {
    let codes = vector.codes
    var known = CodeTable()
    rows.forEach { row in
      let group = groups?[row] ?? 0
      _ = known.code(of: Int64(group) << 32 | Int64(codes[row])) { _ in
        add(source.value(at: row, of: vector), to: Int(group))
        return 0
      }
    }
  }
}
