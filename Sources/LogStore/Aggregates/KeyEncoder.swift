import LogEngine
import ModelRuntime
import RowFormat

/// Numbers the different values of a column as they come, so that rows are grouped by small integers.
///
/// A value is put into its bucket, and compared with those that are known, once for each spelling of it: of a
/// dictionary's text once for the dictionary, of a date in the range of its bucket not at all.
struct KeyEncoder {
  private let source: MeasuredColumn
  private let bucket: KeyBucket?
  /// The values that have a number, by it.
  private(set) var values: [KeyValue] = []
  /// The number of each value; empty until `comparesValues`.
  private var codes: [KeyValue: Int32] = [:]
  /// Whether equal values may differ in their bytes, so that a new one is looked up in `codes`.
  ///
  /// As long as all are plain texts, `texts` alone tells them apart.
  private var comparesValues = false
  private var nullCode: Int32?

  private var integers = CodeTable()
  private var texts = TextCodeTable()
  private var dictionaries: [ObjectIdentifier: (dictionary: PackDictionary, codes: [Int32])] = [:]
  /// Ranges of doubles that fall into one bucket each, ascending, by the stretch in which a value of theirs was met.
  private var bucketRanges: [Int: [(range: Range<Double>, code: Int32)]] = [:]
  private var bucketRangeCount = 0
  /// The ranges that were found last, by quarters of an hour: rows are near each other in time.
  private var recentRanges: [(range: Range<Double>, code: Int32)] = []

  /// The memory of texts and bytes outside of the values, in bytes.
  private var heapByteCount = 0
  /// Number of codes for the values of dictionaries.
  private var dictionaryCodeCount = 0

  /// The approximate memory in bytes: each value is in the list and in a table, some of whose places are free.
  var byteCount: Int {
    values.count * MemoryLayout<KeyValue>.stride * 3 + heapByteCount + integers.byteCount
      + texts.byteCount + dictionaryCodeCount * MemoryLayout<Int32>.stride
      + bucketRangeCount * MemoryLayout<(Range<Double>, Int32)>.stride * 2
      + bucketRanges.count * Self.stretchByteCount
  }

  /// The approximate memory of a stretch beside its ranges, in bytes: places of a table, and the head of a list.
  private static let stretchByteCount = 96

  init(_ source: MeasuredColumn, _ bucket: KeyBucket?) {
    self.source = source
    self.bucket = bucket
  }

  /// The number of a value.
  mutating func code(of value: QueryValue) -> Int32 {
    let key = KeyValue(bucket.map { $0.value(value) } ?? value)
    if key.value.isNull {
      let code = nullCode ?? append(key)
      nullCode = code
      return code
    }
    if !comparesValues { beginComparingValues() }
    if let known = codes[key] { return known }
    let code = append(key)
    codes[key] = code
    return code
  }

  private mutating func beginComparingValues() {
    comparesValues = true
    for (code, value) in values.enumerated() { codes[value] = Int32(code) }
  }

  /// The number of a text whose bytes have none.
  private mutating func code(ofNewSpelling text: String) -> Int32 {
    if !comparesValues, bucket == nil, source.isPlain, text.isPlainText {
      return append(KeyValue(.text(text)))
    }
    return code(of: source.value(.text(text)))
  }

  private mutating func append(_ key: KeyValue) -> Int32 {
    values.append(key)
    heapByteCount += key.heapByteCount
    return Int32(values.count - 1)
  }

  /// Numbers the values of some rows.
  ///
  /// - Parameters:
  ///   - rows: The rows, one at least; all have values in the column.
  ///   - vector: The column.
  ///   - result: Takes the numbers, by row.
  mutating func encode(_ rows: RowSelection, of vector: ColumnVector, into result: inout [Int32]) {
    switch vector.form {
    case .absent, .dense: preconditionFailure("a column of \(vector.form) has no values")
    case .integers: encodeIntegers(rows, of: vector, into: &result)
    case .doubles:
      if bucket?.range == nil {
        encodeDoubles(rows, of: vector, into: &result)
      } else {
        encodeStretches(rows, of: vector, into: &result)
      }
    case .bits:
      let words = vector.bits
      withIntegers { encoder, table in
        rows.forEach { row in
          let bit = Int64(words[row >> 6] >> UInt64(row & 63) & 1)
          result[row] = table.code(of: bit) {
            encoder.code(of: encoder.source.value(.bool($0 == 1)))
          }
        }
      }
    case .identifiers:
      rows.forEach { row in result[row] = code(of: source.value(at: row, of: vector)) }
    case .codes: encodeCodes(rows, of: vector, into: &result)
    case .bytes:
      withTexts { encoder, texts in
        rows.forEach { row in
          result[row] = encoder.code(of: vector.bytes(at: row), in: &texts)
        }
      }
    }
  }

  private mutating func encodeIntegers(
    _ rows: RowSelection,
    of vector: ColumnVector,
    into result: inout [Int32]
  ) {
    let values = vector.integers
    withIntegers { encoder, table in
      rows.forEach { row in
        result[row] = table.code(of: values[row]) {
          encoder.code(of: encoder.source.value(.integer($0)))
        }
      }
    }
  }

  private mutating func encodeDoubles(
    _ rows: RowSelection,
    of vector: ColumnVector,
    into result: inout [Int32]
  ) {
    let values = vector.doubles
    withIntegers { encoder, table in
      rows.forEach { row in
        // One zero, and one that is not a number.
        let value = values[row].isNaN ? .nan : values[row] + 0
        result[row] = table.code(of: Int64(bitPattern: value.bitPattern)) { _ in
          encoder.code(of: encoder.source.value(.double(value)))
        }
      }
    }
  }

  // The tables are taken out while they are used: asking for a new value's number changes the rest.

  private mutating func withIntegers(_ body: (inout KeyEncoder, inout CodeTable) -> Void) {
    var table = CodeTable()
    swap(&table, &integers)
    body(&self, &table)
    swap(&table, &integers)
  }

  private mutating func withTexts(_ body: (inout KeyEncoder, inout TextCodeTable) -> Void) {
    var table = TextCodeTable()
    swap(&table, &texts)
    body(&self, &table)
    swap(&table, &texts)
  }

  private mutating func code(of text: RawSpan, in table: inout TextCodeTable) -> Int32 {
    table.code(of: text) { code(ofNewSpelling: String(decoding: $0)) }
  }

  private mutating func encodeStretches(
    _ rows: RowSelection,
    of vector: ColumnVector,
    into result: inout [Int32]
  ) {
    let values = vector.doubles
    var recent: [(range: Range<Double>, code: Int32)] = []
    swap(&recent, &recentRanges)
    if recent.isEmpty { recent = Array(repeating: (0..<0, 0), count: 256) }
    rows.forEach { row in
      let value = values[row]
      let place = abs(value) < 1e15 ? Int(value / 900) & 255 : 0
      if !recent[place].range.contains(value) {
        let code = code(inStretch: value, &recent[place].range)
        recent[place].code = code
      }
      result[row] = recent[place].code
    }
    swap(&recent, &recentRanges)
  }

  /// The length of a stretch, in seconds: it holds some thousands of ranges as short as a second, so that inserting one
  /// is cheap, and years have a few thousand stretches.
  private static let stretchLength = 8192.0

  /// The number of a date.
  ///
  /// - Parameters:
  ///   - value: The date.
  ///   - known: Becomes the range in which all dates have this number; empty if that is not known.
  /// - Returns: The number.
  private mutating func code(inStretch value: Double, _ known: inout Range<Double>) -> Int32 {
    // Farther away no ranges are known.
    guard abs(value) < 1e13 else {
      known = 0..<0
      return code(of: source.value(.double(value)))
    }
    let stretch = Int((value / Self.stretchLength).rounded(.down))
    let (place, found) = place(of: value, in: bucketRanges[stretch] ?? [])
    if let found {
      known = found.range
      return found.code
    }
    let code = code(of: source.value(.double(value)))
    known = bucket?.range?(value) ?? 0..<0
    if !known.isEmpty {
      bucketRanges[stretch, default: []].insert((known, code), at: place)
      bucketRangeCount += 1
    }
    return code
  }

  /// Finds the place of a date's range in a list of ranges, or the place at which to insert it.
  private func place(
    of value: Double,
    in ranges: [(range: Range<Double>, code: Int32)]
  ) -> (place: Int, found: (range: Range<Double>, code: Int32)?) {
    let place = ranges.partitionPoint { $0.range.upperBound <= value }
    let isThere = place < ranges.count && ranges[place].range.contains(value)
    return (place, isThere ? ranges[place] : nil)
  }

  private mutating func encodeCodes(
    _ rows: RowSelection,
    of vector: ColumnVector,
    into result: inout [Int32]
  ) {
    guard let dictionary = vector.dictionary else { return }
    let name = ObjectIdentifier(dictionary)
    var known = dictionaries.removeValue(forKey: name)?.codes ?? []
    if known.isEmpty {
      known = Array(repeating: -1, count: dictionary.count)
      dictionaryCodeCount += dictionary.count
    }
    let numbers = vector.codes
    withTexts { encoder, texts in
      rows.forEach { row in
        let number = Int(numbers[row])
        if known[number] < 0 {
          known[number] = encoder.code(of: dictionary.value(number), in: &texts)
        }
        result[row] = known[number]
      }
    }
    dictionaries[name] = (dictionary, known)
  }
}
