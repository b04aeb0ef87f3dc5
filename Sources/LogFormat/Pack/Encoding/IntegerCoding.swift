import RowFormat

/// A list of integers as differences, in as few bits as the greatest difference needs.
///
///     part    size       meaning
///     form    1          bits 0 ... 6: width of a packed number; bit 7: ``Form/steps``
///     base    varint     zigzag; the least value, or the least difference of neighbours
///     scale   varint     a divisor of all differences; at least 1
///     first   varint     zigzag; the first value, only in ``Form/steps``
///     packed  the rest   ``BitPacking``; of every value, or of every value but the first
///
/// A value is base + scale × packed number, or its predecessor plus that. Arithmetic wraps. So whole minutes, multiples of a
/// thousand and dense keys cost no more than their differences.
enum IntegerCoding {
  /// The reference point of the differences: the base, or the previous value.
  enum Form { case offsets, steps }

  /// Returns the limit of a list of that many integers, in bytes: the form, three varints, the packed numbers.
  static func byteLimit(_ count: Int) -> Int { 1 + 3 * 10 + count * 8 }

  private struct Plan {
    var form = Form.offsets
    var width = 0
    var base: Int64 = 0
    var scale: UInt64 = 1
  }

  /// Appends a list.
  static func encode(_ list: [Int64], into buffer: inout ByteBuffer) {
    let values = list.span
    let plan = makePlan(values)
    let count = values.count
    let base = plan.base
    let scale = plan.scale
    buffer.append(UInt8(plan.width) | (plan.form == .steps ? 0x80 : 0))
    buffer.appendVarint(zigzag(base))
    buffer.appendVarint(scale)
    switch plan.form {
    case .offsets:
      BitPacking.pack(count, width: plan.width, into: &buffer) { index in
        let difference = UInt64(bitPattern: values[index] &- base)
        return scale == 1 ? difference : difference / scale
      }
    case .steps:
      buffer.appendVarint(zigzag(values[0]))
      BitPacking.pack(count - 1, width: plan.width, into: &buffer) { index in
        let difference = UInt64(bitPattern: values[index + 1] &- values[index] &- base)
        return scale == 1 ? difference : difference / scale
      }
    }
  }

  /// Reads a list written by ``encode(_:into:)``.
  ///
  /// - Parameters:
  ///   - bytes: Bytes from a file.
  ///   - cursor: The offset of the list; afterwards, the offset of its end.
  ///   - values: Has room for as many values as there are.
  ///   - wanted: The indices of the values that are filled in; the others are unspecified.
  /// - Returns: `false` if the bytes are not such a list.
  static func decode(
    _ bytes: RawSpan,
    _ cursor: inout ByteCursor,
    into values: UnsafeMutableBufferPointer<Int64>,
    _ wanted: Range<Int>
  ) -> Bool {
    guard let form = cursor.integer(UInt8.self, in: bytes),
      let base = cursor.varint(in: bytes).map(unzigzag), let scale = cursor.varint(in: bytes)
    else { return false }
    let width = Int(form & 0x7F)
    guard width <= 64 else { return false }
    if form & 0x80 == 0 {
      guard let range = cursor.take(BitPacking.byteCount(values.count, width: width)) else {
        return false
      }
      unsafe unpackOffsets(bytes.extracting(range), width, base, scale, into: values, wanted)
      return true
    }
    guard let first = cursor.varint(in: bytes).map(unzigzag), values.count > 0,
      let range = cursor.take(BitPacking.byteCount(values.count - 1, width: width))
    else { return false }
    unsafe values[0] = first
    var last = first
    let signedScale = Int64(bitPattern: scale)
    // Each value takes those before it.
    let steps = 0..<max(wanted.upperBound - 1, 0)
    BitPacking.unpack(bytes.extracting(range), steps, width: width) { index, number in
      last = last &+ base &+ Int64(bitPattern: number) &* signedScale
      unsafe values[index &+ 1] = last
    }
    return true
  }

  @inline(__always)
  private static func unpackOffsets(
    _ bytes: RawSpan,
    _ width: Int,
    _ base: Int64,
    _ scale: UInt64,
    into values: UnsafeMutableBufferPointer<Int64>,
    _ wanted: Range<Int>
  ) {
    // Two loops: one more multiplication would keep the first from being vectorised.
    if scale == 1 {
      BitPacking.unpack(bytes, wanted, width: width) { index, number in
        unsafe values[index] = base &+ Int64(bitPattern: number)
      }
    } else {
      let scale = Int64(bitPattern: scale)
      BitPacking.unpack(bytes, wanted, width: width) { index, number in
        unsafe values[index] = base &+ Int64(bitPattern: number) &* scale
      }
    }
  }
}

// MARK: Choosing

extension IntegerCoding {
  private static func makePlan(_ values: Span<Int64>) -> Plan {
    guard values.count > 0 else { return Plan() }
    var least = values[0]
    var greatest = values[0]
    var leastStep = Int64.max
    var greatestStep = Int64.min
    var stepsOverflow = false
    var last = values[0]
    for index in 1..<max(1, values.count) {
      let value = values[index]
      least = min(least, value)
      greatest = max(greatest, value)
      let (step, overflow) = value.subtractingReportingOverflow(last)
      leastStep = min(leastStep, step)
      greatestStep = max(greatestStep, step)
      stepsOverflow = stepsOverflow || overflow
      last = value
    }
    let range = UInt64(bitPattern: greatest &- least)
    var plan = Plan()
    plan.base = least
    plan.scale = range == 0 ? 1 : commonDivisor(values, base: least)
    plan.width = BitPacking.width(of: range / plan.scale)
    guard !stepsOverflow, values.count > 1 else { return plan }
    // A divisor of all differences from the least value divides those of neighbours, too.
    let stepRange = UInt64(bitPattern: greatestStep &- leastStep)
    let stepWidth = BitPacking.width(of: stepRange / plan.scale)
    // A sum over all predecessors is slower to read, so it must pay.
    if (plan.width - stepWidth) * values.count > 128, stepWidth * 8 <= plan.width * 7 {
      plan.form = .steps
      plan.base = leastStep
      plan.width = stepWidth
    }
    return plan
  }

  /// Returns the greatest number that divides all differences from `base`.
  private static func commonDivisor(_ values: Span<Int64>, base: Int64) -> UInt64 {
    var divisor: UInt64 = 0
    for index in values.indices {
      var rest = UInt64(bitPattern: values[index] &- base)
      if divisor == 0 {
        divisor = rest
        continue
      }
      // Euclid's algorithm; mostly the first remainder is zero.
      while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
      if divisor == 1 { return 1 }
    }
    return max(divisor, 1)
  }

  static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

  static func unzigzag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}
