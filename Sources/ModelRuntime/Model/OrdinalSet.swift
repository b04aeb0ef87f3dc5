import RowFormat

/// A set of properties of one class, by their ordinals: exact, even beyond the 63rd.
///
/// A ``ColumnSet`` is one word, in which all columns from 63 on share a mark. That suffices where an extra column costs
/// bytes, but not where it decides about values to keep: so a state uses this set for its changed properties.
struct OrdinalSet: Hashable {
  /// The set in one word: the last mark means that there is any property from 63 on.
  private(set) var marks: ColumnSet
  /// Those from 63 on, one bit each; empty for most classes, and then without an allocation.
  private(set) var far: FarOrdinals

  init() {
    marks = ColumnSet()
    far = FarOrdinals()
  }

  /// - Parameters:
  ///   - marks: The set in one word.
  ///   - far: The properties that the last mark represents.
  init(_ marks: ColumnSet, _ far: FarOrdinals) {
    self.marks = marks
    self.far = far
    assert(marks.contains(63) != far.isEmpty, "\(marks) and \(far) disagree")
  }

  /// Makes the set of all properties of a class.
  init(upTo count: Int) {
    let isWide = count > 63
    marks = isWide ? .all : ColumnSet(rawValue: (1 << UInt64(count)) - 1)
    far = FarOrdinals(upTo: isWide ? count : 63)
  }

  var isEmpty: Bool { marks.isEmpty }

  func contains(_ ordinal: Int) -> Bool {
    ordinal < 63 ? marks.contains(ordinal) : far.contains(ordinal)
  }

  mutating func insert(_ ordinal: Int) {
    marks.insert(ordinal)
    if ordinal >= 63 { far.insert(ordinal) }
  }

  mutating func remove(_ ordinal: Int) {
    if ordinal >= 63 {
      far.remove(ordinal)
      if !far.isEmpty { return }
    }
    marks.remove(ordinal)
  }

  mutating func formUnion(_ other: OrdinalSet) {
    marks.formUnion(other.marks)
    if !other.far.isEmpty { far.formUnion(other.far) }
  }

  mutating func subtract(_ other: OrdinalSet) {
    far.subtract(other.far)
    marks = ColumnSet(rawValue: marks.rawValue & ~other.marks.rawValue)
    if !far.isEmpty { marks.insert(63) }
  }
}

/// The properties from 63 on among those of an ``OrdinalSet``.
struct FarOrdinals: Hashable {
  /// One bit for each, the lowest one for 63; the last word is never zero.
  private(set) var words: [UInt64] = []

  init() {}
  init(words: [UInt64]) { self.words = words }

  /// Makes the set of all properties of a class from 63 on.
  init(upTo count: Int) {
    words = Array(repeating: .max, count: (count - 63) / 64)
    let rest = (count - 63) % 64
    if rest > 0 { words.append((1 << UInt64(rest)) - 1) }
  }

  var isEmpty: Bool { words.isEmpty }

  func contains(_ ordinal: Int) -> Bool {
    let place = (ordinal - 63) / 64
    return place < words.count && words[place] & FarOrdinals.bit(of: ordinal) != 0
  }

  mutating func insert(_ ordinal: Int) {
    let place = (ordinal - 63) / 64
    while words.count <= place { words.append(0) }
    words[place] |= FarOrdinals.bit(of: ordinal)
  }

  mutating func remove(_ ordinal: Int) {
    guard contains(ordinal) else { return }
    words[(ordinal - 63) / 64] &= ~FarOrdinals.bit(of: ordinal)
    trim()
  }

  mutating func formUnion(_ other: FarOrdinals) {
    while words.count < other.words.count { words.append(0) }
    for place in other.words.indices { words[place] |= other.words[place] }
  }

  mutating func subtract(_ other: FarOrdinals) {
    if isEmpty || other.isEmpty { return }
    for place in 0..<min(words.count, other.words.count) { words[place] &= ~other.words[place] }
    trim()
  }

  private mutating func trim() { while words.last == 0 { words.removeLast() } }

  private static func bit(of ordinal: Int) -> UInt64 { 1 << UInt64((ordinal - 63) % 64) }
}
